#include "preload/misuse/errors.h"
#include "preload/base/log.h"
#include "preload/store/store.h"
#include "preload/base/sys.h"

#include <signal.h>

static const char *const action_words[] = {"report", "stop", "trap", "abort"};
static const char *const type_words[LEAK_EVENT_MAX] = {
#define T(name, word) [LEAK_EVENT_##name] = word,
    LEAK_EVENT_TABLE(T)
#undef T
};

static uint8_t actions[LEAK_EVENT_MAX]; /* enum error_action for each type of event */

/* Finds a word in a list: its index, or -1. */
static int find_word(const char *const *words, size_t count, const char *word, size_t length)
{
    for (size_t i = 0; i < count; i++)
        if (words[i] && strlen(words[i]) == length && memcmp(words[i], word, length) == 0)
            return i;
    return -1;
}

int on_error_find_action(const char *word, size_t length)
{
    return find_word(action_words, ARRAY_LENGTH(action_words), word, length);
}

const char *on_error_action_name(enum error_action action)
{
    return action_words[action];
}

/* Parses one item of the option: "abort" or "double-free=abort". */
static bool parse_word(const char *word, size_t length)
{
    const char *equals = memchr(word, '=', length);
    const char *last = equals ? equals + 1 : word;
    int action = on_error_find_action(last, word + length - last);
    int type = equals ? find_word(type_words, LEAK_EVENT_MAX, word, equals - word) : 0;
    if (action < 0 || type < 0)
        return false;
    for (int i = 1; i < LEAK_EVENT_MAX; i++)
        if (!type || i == type)
            actions[i] = action;
    return true;
}

bool on_error_parse(const char *option, size_t length)
{
    const char *end = option + length;
    memset(actions, ERROR_ACTION_REPORT, sizeof actions);
    while (option < end) {
        const char *comma = memchr(option, ',', end - option);
        const char *stop = comma ? comma : end;
        if (!parse_word(option, stop - option)) {
            memset(actions, ERROR_ACTION_REPORT, sizeof actions);
            return false;
        }
        option = comma ? comma + 1 : end;
    }
    return true;
}

void on_error_start(const char *option)
{
    if (!on_error_parse(option, strlen(option)))
        log_bad_value("on_error", option,
                      "report, stop, trap or abort, or such a word for one kind of error, as in "
                      "report,double-free=abort; all are reported");
}

bool on_error_only_reports(enum leak_event_type type)
{
    return actions[type] == ERROR_ACTION_REPORT;
}

bool on_error_perform(struct guard *guard, const struct frame *caller, enum error_action action)
{
    int process = sys_getpid();
    if (action == ERROR_ACTION_REPORT)
        return false;
    guard_leave(guard);
    if (action == ERROR_ACTION_ABORT)
        abort();
    else if (action == ERROR_ACTION_TRAP)
        sys_raise_trap();
    else
        sys_kill(process, SIGSTOP);
    guard_enter(caller);
    if (sys_getpid() == process)
        return false;
    /* A signal handler of the program has forked, and this is the child: the rest of the call must
     * not write to the parent's recording. */
    if (store_header->pid == sys_getpid())
        return true;
    store_make_private();
    return false;
}

bool on_error_handle(struct guard *guard, const struct frame *caller, enum leak_event_type type,
                     const char *words)
{
    enum error_action action = actions[type];
    if (action == ERROR_ACTION_REPORT)
        return false;
    log_line(words, " (on_error: ", action_words[action], ")", NULL);
    return on_error_perform(guard, caller, action);
}
