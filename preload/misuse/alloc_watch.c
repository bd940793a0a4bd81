#include "preload/misuse/alloc_watch.h"
#include "preload/base/log.h"
#include "preload/base/strbuf.h"
#include "preload/base/sys.h"
#include "preload/misuse/errors.h"
#include "preload/misuse/eventlog.h"
#include "preload/contexts/unwind_check.h"
#include "preload/contexts/sites.h"

#define BREAKPOINTS_MAX 64
/* The action print of break_at=: writes the call stack to standard error, and the program
 * continues. */
#define ACTION_PRINT ERROR_ACTION_REPORT

static struct breakpoint {
    uint32_t thread, count;
    enum error_action action;
} breakpoints[BREAKPOINTS_MAX];
static unsigned breakpoint_count;

struct alloc_watch_calls alloc_watch_calls;

/* ---- The option break_at --------------------------------------------------------------------- */

static bool parse_serial(const char *text, const char *end, uint32_t *out)
{
    uint64_t number;
    if (end <= text || *text < '0' || *text > '9' || !parse_number(text, end - text, &number) ||
        !number || number > UINT32_MAX)
        return false;
    *out = number;
    return true;
}

static bool parse_action(const char *word, size_t length, enum error_action *out)
{
    if (length == 5 && memcmp(word, "print", 5) == 0) {
        *out = ACTION_PRINT;
        return true;
    }
    int action = on_error_find_action(word, length);
    *out = action;
    return action > ERROR_ACTION_REPORT;
}

/* Parses "T1#4213" or "T1#4213=stop". False: the item has another form. */
static bool parse_breakpoint(const char *item, size_t length, struct breakpoint *out)
{
    const char *end = item + length;
    const char *equals = memchr(item, '=', length), *stop = equals ? equals : end;
    const char *hash = memchr(item, '#', stop - item);
    out->action = ACTION_PRINT;
    return hash && *item == 'T' && parse_serial(item + 1, hash, &out->thread) &&
           parse_serial(hash + 1, stop, &out->count) &&
           (!equals || parse_action(equals + 1, end - equals - 1, &out->action));
}

bool break_at_parse(const char *option, size_t length)
{
    const char *end = option + length;
    for (breakpoint_count = 0; option < end;) {
        const char *comma = memchr(option, ',', end - option), *stop = comma ? comma : end;
        if (breakpoint_count == BREAKPOINTS_MAX ||
            !parse_breakpoint(option, stop - option, &breakpoints[breakpoint_count])) {
            breakpoint_count = 0;
            return false;
        }
        breakpoint_count++;
        option = comma ? comma + 1 : end;
    }
    return true;
}

void break_at_start(const char *option)
{
    if (!break_at_parse(option, strlen(option)))
        log_bad_value("break_at", option,
                      "the serials of up to 64 blocks, each with print, stop, trap or abort if "
                      "wanted, as in T1#4213,T2#7=stop; nothing is waited for");
    if (breakpoint_count)
        live_error_start();
}

bool break_at_is_set(void)
{
    return breakpoint_count != 0;
}

uint32_t break_at_next(uint32_t thread, uint32_t after)
{
    uint32_t next = 0;
    for (unsigned i = 0; i < breakpoint_count; i++)
        if (breakpoints[i].thread == thread && breakpoints[i].count > after &&
            (!next || breakpoints[i].count < next))
            next = breakpoints[i].count;
    return next;
}

/* ---- Acting on a breakpoint ------------------------------------------------------------------ */

static bool is_traced(void)
{
    char status[512]; /* long enough for TracerPid, which is among the first ten lines */
    const char *line;
    return sys_read_file("/proc/thread-self/status", status, sizeof status) > 0 &&
           (line = strstr(status, "\nTracerPid:\t")) && line[12] != '0';
}

static void write_breakpoint(struct guard *guard, const struct block *block,
                             enum error_action action)
{
    char words[96];
    struct strbuf text = STRBUF_ON(words);
    strbuf_add(&text, "T");
    strbuf_add_number(&text, block->thread);
    strbuf_add(&text, "#");
    strbuf_add_number(&text, block->count);
    strbuf_add(&text, ": ");
    error_text_add_block(&text, block->size, sites_kind(block->site));
    if (action == ACTION_PRINT)
        live_error_write_stack(guard, words, sites_node(block->site));
    else
        log_line(words, " (break_at: ", on_error_action_name(action), ")", NULL);
}

static COLD void break_at_handle(struct guard *guard, const struct frame *caller,
                                 const struct block *block)
{
    for (unsigned i = 0; i < breakpoint_count; i++) {
        if (breakpoints[i].thread != block->thread || breakpoints[i].count != block->count)
            continue;
        enum error_action action = is_traced() ? ERROR_ACTION_TRAP : breakpoints[i].action;
        write_breakpoint(guard, block, action);
        on_error_perform(guard, caller, action);
        return;
    }
}

/* ---- The next allocation to handle ----------------------------------------------------------- */

static uint32_t next_watch(const struct thread *thread)
{
    uint32_t count = thread->record->allocations;
    if (eventlog_is_on() || alloc_watch_calls.allocated)
        return count + 1;
    uint32_t check = unwind_check_next(count), stop = break_at_next(thread->serial, count);
    return !check || (stop && stop < check) ? stop : check;
}

void alloc_watch_start(struct guard *guard)
{
    threads_state.watch_from = eventlog_is_on() || alloc_watch_calls.allocated ||
                               unwind_check_next(0) || break_at_is_set();
    if (!guard->thread)
        return;
    guard->thread->watch_at = threads_state.watch_from;
    guard->thread->stop_at = 0;
}

void alloc_watch_handle(struct guard *guard, struct thread *thread, const struct frame *caller,
                        const struct block *block)
{
    if (unwind_check_is_due(block->count) && block->site)
        unwind_check_run(guard, &thread->oracle, &thread->bounds, caller, sites_node(block->site));
    if (eventlog_is_on())
        eventlog_alloc(guard, caller, thread, block);
    /* A thread that uses the stand-in for a state of its own does so under a lock (threads.h). No
     * signal handler may run meanwhile, so break_at_handle and alloc_watch_calls.allocated are not
     * called. */
    if (block->site && !thread->stand_in)
        break_at_handle(guard, caller, block);
    if (alloc_watch_calls.allocated && block->site && !thread->stand_in)
        alloc_watch_calls.allocated(guard, caller, block);
    /* Computed last: a signal handler may have allocated in break_at_handle, so the thread may have
     * more allocations now. */
    thread->watch_at = next_watch(thread);
}
