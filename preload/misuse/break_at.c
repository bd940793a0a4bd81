#include "preload/misuse/break_at.h"
#include "preload/base/log.h"
#include "preload/misuse/on_error.h"
#include "preload/unwind/sites.h"
#include "preload/base/sys.h"
#include "preload/misuse/live_error.h"
#include "preload/misuse/error_text.h"
#include "preload/base/strbuf.h"

#include <fcntl.h>

#define MOST 64
#define PRINT REACTION_REPORT /* the stack instead of a record */

static struct point {
    uint32_t thread, count;
    enum reaction reaction;
} points[MOST];
static unsigned point_count;

/* ---- The option ----------------------------------------------------------------------------- */

static bool read_small(const char *text, const char *end, uint32_t *out)
{
    uint64_t number;
    if (end <= text || *text < '0' || *text > '9' || !text_read_number(text, end - text, &number) ||
        !number || number > UINT32_MAX)
        return false;
    *out = number;
    return true;
}

static bool read_reaction(const char *word, size_t length, enum reaction *out)
{
    if (length == 5 && memcmp(word, "print", 5) == 0) {
        *out = PRINT;
        return true;
    }
    int reaction = reactions_find(word, length);
    *out = reaction;
    return reaction > REACTION_REPORT;
}

/* "T1#4213", "T1#4213=stop" */
static bool read_point(const char *item, size_t length, struct point *out)
{
    const char *end = item + length;
    const char *equals = memchr(item, '=', length), *stop = equals ? equals : end;
    const char *hash = memchr(item, '#', stop - item);
    out->reaction = PRINT;
    return hash && *item == 'T' && read_small(item + 1, hash, &out->thread) &&
           read_small(hash + 1, stop, &out->count) &&
           (!equals || read_reaction(equals + 1, end - equals - 1, &out->reaction));
}

bool breaks_read(const char *option, size_t length)
{
    const char *end = option + length;
    for (point_count = 0; option < end;) {
        const char *comma = memchr(option, ',', end - option), *stop = comma ? comma : end;
        if (point_count == MOST || !read_point(option, stop - option, &points[point_count])) {
            point_count = 0;
            return false;
        }
        point_count++;
        option = comma ? comma + 1 : end;
    }
    return true;
}

void breaks_start(const char *option)
{
    if (!breaks_read(option, strlen(option)))
        log_bad_value("break_at", option,
                      "the serials of up to 64 blocks, each with print, stop, trap or abort if "
                      "wanted, as in T1#4213,T2#7=stop; nothing is waited for");
    if (point_count)
        tell_start();
}

bool breaks_any(void)
{
    return point_count != 0;
}

uint32_t breaks_next(uint32_t thread, uint32_t after)
{
    uint32_t next = 0;
    for (unsigned i = 0; i < point_count; i++)
        if (points[i].thread == thread && points[i].count > after &&
            (!next || points[i].count < next))
            next = points[i].count;
    return next;
}

/* ---- It is met ------------------------------------------------------------------------------ */

static bool is_traced(void)
{
    char status[512]; /* the line is among the first ten */
    const char *line;
    return sys_read_file("/proc/thread-self/status", status, sizeof status) > 0 &&
           (line = strstr(status, "\nTracerPid:\t")) && line[12] != '0';
}

static void say(struct guard *guard, const struct block *block, enum reaction reaction)
{
    char words[96];
    struct text text = TEXT_ON(words);
    text_add(&text, "T");
    text_add_number(&text, block->thread);
    text_add(&text, "#");
    text_add_number(&text, block->count);
    text_add(&text, ": ");
    tell_block(&text, block->size, sites_kind(block->site));
    if (reaction == PRINT)
        tell_stack(guard, words, sites_node(block->site));
    else
        log_line(words, " (break_at: ", reactions_word(reaction), ")", NULL);
}

void breaks_meet(struct guard *guard, const struct frame *caller, const struct block *block)
{
    for (unsigned i = 0; i < point_count; i++) {
        if (points[i].thread != block->thread || points[i].count != block->count)
            continue;
        enum reaction reaction = is_traced() ? REACTION_TRAP : points[i].reaction;
        say(guard, block, reaction);
        reactions_do(guard, caller, reaction);
        return;
    }
}
