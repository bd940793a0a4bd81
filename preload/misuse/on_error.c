#include "preload/misuse/on_error.h"
#include "preload/base/log.h"
#include "preload/store/store.h"
#include "preload/base/sys.h"

#include <signal.h>

static const char *const reaction_words[] = {"report", "stop", "trap", "abort"};
static const char *const type_words[LEAK_EVENT_MAX] = {
#define T(name, word) [LEAK_EVENT_##name] = word,
    LEAK_EVENT_TABLE(T)
#undef T
};

static uint8_t reaction_to[LEAK_EVENT_MAX]; /* enum reaction */

/* The place of a word, or -1. */
static int find(const char *const *words, size_t count, const char *word, size_t length)
{
    for (size_t i = 0; i < count; i++)
        if (words[i] && strlen(words[i]) == length && memcmp(words[i], word, length) == 0)
            return i;
    return -1;
}

int reactions_find(const char *word, size_t length)
{
    return find(reaction_words, ARRAY_LENGTH(reaction_words), word, length);
}

const char *reactions_word(enum reaction reaction)
{
    return reaction_words[reaction];
}

/* "abort", "double-free=abort" */
static bool read_word(const char *word, size_t length)
{
    const char *equals = memchr(word, '=', length);
    const char *last = equals ? equals + 1 : word;
    int reaction = reactions_find(last, word + length - last);
    int type = equals ? find(type_words, LEAK_EVENT_MAX, word, equals - word) : 0;
    if (reaction < 0 || type < 0)
        return false;
    for (int i = 1; i < LEAK_EVENT_MAX; i++)
        if (!type || i == type)
            reaction_to[i] = reaction;
    return true;
}

bool reactions_read(const char *option, size_t length)
{
    const char *end = option + length;
    memset(reaction_to, REACTION_REPORT, sizeof reaction_to);
    while (option < end) {
        const char *comma = memchr(option, ',', end - option);
        const char *stop = comma ? comma : end;
        if (!read_word(option, stop - option)) {
            memset(reaction_to, REACTION_REPORT, sizeof reaction_to);
            return false;
        }
        option = comma ? comma + 1 : end;
    }
    return true;
}

void reactions_start(const char *option)
{
    if (!reactions_read(option, strlen(option)))
        log_bad_value("on_error", option,
                      "report, stop, trap or abort, or such a word for one kind of error, as in "
                      "report,double-free=abort; all are reported");
}

bool reactions_only_report(enum leak_event_type type)
{
    return reaction_to[type] == REACTION_REPORT;
}

bool reactions_do(struct guard *guard, const struct frame *caller, enum reaction reaction)
{
    int process = sys_getpid();
    if (reaction == REACTION_REPORT)
        return false;
    guard_leave(guard);
    if (reaction == REACTION_ABORT)
        abort();
    else if (reaction == REACTION_TRAP)
        sys_trap();
    else
        sys_kill(process, SIGSTOP);
    guard_enter(caller);
    if (sys_getpid() == process)
        return false;
    /* A handler of the program's has forked, and this is the child: the parent's account is not for
     * what the call still does. */
    if (store_header->pid == sys_getpid())
        return true;
    store_detach();
    return false;
}

bool reactions_act(struct guard *guard, const struct frame *caller, enum leak_event_type type,
                   const char *words)
{
    enum reaction reaction = reaction_to[type];
    if (reaction == REACTION_REPORT)
        return false;
    log_line(words, " (on_error: ", reaction_words[reaction], ")", NULL);
    return reactions_do(guard, caller, reaction);
}
