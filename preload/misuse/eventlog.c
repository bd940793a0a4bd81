#include "preload/misuse/eventlog.h"
#include "preload/heap/capture.h"
#include "preload/store/log_file.h"
#include "preload/base/log.h"
#include "preload/heap/free_form.h"
#include "preload/contexts/sites.h"
#include "preload/base/sys.h"
#include "preload/misuse/errors.h"
#include "preload/base/strbuf.h"
#include "preload/contexts/context_tree.h"

#include <limits.h>
#include <time.h>

enum { STACKS_OF_ALLOCATIONS = 2, STACKS_OF_FREES = 3 };

static unsigned level; /* value of the option log, 1 to 3; 0: no event log */

static bool for_mtrace;
static uint64_t started_ns;
static char path_bytes[PATH_MAX]; /* scratch, guarded by the lock of the log file */

/* ---- Places of calls ------------------------------------------------------------------------- */

/* Adds the place of the call that returns to pc: "object+offset", or "object:[offset]" for
 * mtrace. */
static void add_call_place(struct guard *guard, struct strbuf *out, uintptr_t pc)
{
    struct module_location place;
    struct module_view view;
    struct strbuf path = STRBUF_ON(path_bytes);
    bool known = modules_locate(pc - 1, &place, &path) ||
                 (modules_find(guard, pc - 1, &view) && modules_locate(pc - 1, &place, &path));
    if (known)
        live_error_add_escaped(out, path_bytes);
    strbuf_add(out, for_mtrace ? (known ? ":[" : "[") : known ? "+" : "");
    strbuf_add_hex(out, known ? place.offset : pc - 1);
    strbuf_add(out, for_mtrace ? "]" : "");
}

static void add_log_stack(struct guard *guard, struct strbuf *out, uint32_t node)
{
    bool mtrace = for_mtrace;
    /* The format of mtrace(1) has no call stacks; mtrace(1) skips lines in libleak's own format. */
    for_mtrace = false;
    for (struct leak_node frame; context_tree_next(&node, &frame);) {
        if (frame.pc < LEAK_KIND_PCS || modules_is_own(frame.pc))
            continue;
        strbuf_add(out, "    ");
        add_call_place(guard, out, frame.pc);
        strbuf_add(out, "\n");
    }
    for_mtrace = mtrace;
}

/* ---- Lines of events ------------------------------------------------------------------------- */

static void add_serial(struct strbuf *out, uint32_t thread, uint32_t count)
{
    strbuf_add(out, "T");
    strbuf_add_number(out, thread);
    if (!count)
        return;
    strbuf_add(out, "#");
    strbuf_add_number(out, count);
}

/* Adds "0.001234 T1#4213 malloc 40 at 0x55d0c0a012a0". */
static void add_plain_event(struct strbuf *out, uint32_t thread, uint32_t count, const char *what,
                            const struct block *block)
{
    uint64_t us = (sys_clock_ns(CLOCK_MONOTONIC) - started_ns) / 1000;
    char digits[24];
    struct strbuf fraction = STRBUF_ON(digits);
    /* The added 1000000 keeps leading zeros; its digit 1 is not printed. */
    strbuf_add_number(&fraction, 1000000 + us % 1000000);
    strbuf_add_number(out, us / 1000000);
    strbuf_add(out, ".");
    strbuf_add(out, digits + 1);
    strbuf_add(out, " ");
    add_serial(out, thread, count);
    strbuf_add(out, " ");
    strbuf_add(out, what);
    strbuf_add(out, " ");
    if (block->site) {
        strbuf_add_number(out, block->size);
        strbuf_add(out, " at ");
    }
    strbuf_add_hex(out, block->address);
    if (count || !block->site)
        return;
    strbuf_add(out, ", ");
    add_serial(out, block->thread, block->count);
}

/* Adds "@ /usr/bin/app:[0x1139] + 0x55d0c0a012a0 0x28". */
static void add_mtrace_event(struct guard *guard, struct strbuf *out, uintptr_t pc,
                             const char *sign, const struct block *block)
{
    strbuf_add(out, "@ ");
    add_call_place(guard, out, pc);
    strbuf_add(out, sign);
    strbuf_add_hex(out, block->address);
    if (sign[1] == '-' || sign[1] == '<')
        return;
    strbuf_add(out, " ");
    strbuf_add_hex(out, block->size);
}

/* An event. words: its description in libleak's own format; sign: that for mtrace. count: number of
 * the new block, 0 for a free. node: node of its call stack, 0 if no stack is written. */
struct log_event {
    const char *words, *sign;
    uint32_t thread, count, node;
    uintptr_t pc;
};

static void write_log_event(struct guard *guard, const struct log_event *event,
                            const struct block *block)
{
    struct locked locked;
    struct strbuf *out = log_file_begin(&locked);
    if (!out)
        return;
    if (for_mtrace) {
        add_mtrace_event(guard, out, event->pc, event->sign, block);
    } else {
        add_plain_event(out, event->thread, event->count, event->words, block);
        if (event->node < LEAK_NODE_FIRST) {
            strbuf_add(out, event->count || !block->site ? " in " : ", in ");
            add_call_place(guard, out, event->pc);
        }
    }
    strbuf_add(out, "\n");
    add_log_stack(guard, out, event->node);
    log_file_commit(&locked);
}

/* ---- Events ---------------------------------------------------------------------------------- */

void eventlog_alloc(struct guard *guard, const struct frame *caller, struct thread *thread,
                    const struct block *block)
{
    bool moved = thread->moving == caller->pc;
    uint32_t node = level >= STACKS_OF_ALLOCATIONS && block->site ? sites_node(block->site) : 0;
    struct log_event event = {
        moved ? "realloc gives" : error_text_kind(block->kind & BLOCKS_KIND),
        moved ? " > " : " + ",
        block->thread,
        block->count,
        node,
        caller->pc,
    };
    thread->moving = 0;
    if (block->site)
        write_log_event(guard, &event, block);
}

void eventlog_free(struct guard *guard, const struct frame *caller, const struct block *block,
                   uint32_t how)
{
    const struct thread *thread;
    bool moves = free_form_of(how) == LEAK_FORM_REALLOC;
    uint32_t node = capture_call(guard, caller,
                                 options_current.site_stacks && level >= STACKS_OF_FREES, &thread);
    struct log_event event = {
        moves ? "realloc takes" : error_text_form(free_form_of(how)),
        moves ? " < " : " - ",
        thread ? thread->serial : 0,
        0,
        node,
        caller->pc,
    };
    if (moves && guard->thread)
        guard->thread->moving = caller->pc;
    write_log_event(guard, &event, block);
}

void eventlog_realloc_failed(struct guard *guard, const struct block *block)
{
    struct thread *thread = guard->thread;
    struct log_event event = {"realloc leaves", " > ", thread ? thread->serial : 0, 0, 0,
                              guard->pc};
    if (thread)
        thread->moving = 0;
    write_log_event(guard, &event, block);
}

void eventlog_free_unknown(struct guard *guard, const struct frame *caller, uintptr_t address,
                           uint32_t how)
{
    struct block block = {.address = address};
    if (!options_current.min_size && !options_current.max_size && !options_current.sample)
        eventlog_free(guard, caller, &block, how);
}

/* ---- Start and end --------------------------------------------------------------------------- */

void eventlog_start(const struct options *options, const char *program)
{
    if (!options->log)
        return;
    for_mtrace = options->log_format == LOG_FORMAT_MTRACE;
    started_ns = sys_clock_ns(CLOCK_MONOTONIC);
    if (!log_file_start(options->log_file, program))
        return;
    level = options->log;
    if (options->verbosity)
        log_line("log: ", log_file_path(), NULL);
}

bool eventlog_is_on(void)
{
    return level != 0;
}

void eventlog_end(bool wait)
{
    char words[24];
    struct strbuf number = STRBUF_ON(words);
    if (!level)
        return;
    log_file_trim(wait, true);
    strbuf_add_number(&number, log_file_lost());
    if (log_file_lost())
        log_line("log: ", words, " events are missing at the end of ", log_file_path(), NULL);
}

void eventlog_pause(void)
{
    if (level)
        log_file_trim(true, false);
}

void eventlog_fork_child(void)
{
    started_ns = sys_clock_ns(CLOCK_MONOTONIC);
    if (level)
        log_file_fork_child();
}
