#include "preload/misuse/eventlog.h"
#include "preload/heap/capture.h"
#include "preload/store/append_file.h"
#include "preload/base/log.h"
#include "preload/heap/free_form.h"
#include "preload/unwind/sites.h"
#include "preload/base/sys.h"
#include "preload/misuse/live_error.h"
#include "preload/misuse/error_text.h"
#include "preload/base/strbuf.h"
#include "preload/unwind/context_tree.h"

#include <limits.h>
#include <time.h>

enum { STACKS_OF_ALLOCATIONS = 2, STACKS_OF_FREES = 3 };

unsigned eventlog_level;

static bool for_mtrace;
static uint64_t began;
static char path_bytes[PATH_MAX]; /* the journal's lock is held */

/* ---- Places --------------------------------------------------------------------------------- */

/* object+offset of the call that returns to pc, in one form or the other. */
static void add_place(struct guard *guard, struct text *out, uintptr_t pc)
{
    struct module_place place;
    struct module_view view;
    struct text path = TEXT_ON(path_bytes);
    bool known = modules_place(pc - 1, &place, &path) ||
                 (modules_find(guard, pc - 1, &view) && modules_place(pc - 1, &place, &path));
    if (known)
        tell_escaped(out, path_bytes);
    text_add(out, for_mtrace ? (known ? ":[" : "[") : known ? "+" : "");
    text_add_hex(out, known ? place.offset : pc - 1);
    text_add(out, for_mtrace ? "]" : "");
}

static void add_stack(struct guard *guard, struct text *out, uint32_t node)
{
    bool mtrace = for_mtrace;
    for_mtrace = false; /* which knows of no stacks, and skips such lines */
    for (; node >= LEAK_NODE_FIRST; node = tree_node(node).parent) {
        uintptr_t pc = tree_node(node).pc;
        if (pc < LEAK_KIND_PCS || modules_own(pc))
            continue;
        text_add(out, "    ");
        add_place(guard, out, pc);
        text_add(out, "\n");
    }
    for_mtrace = mtrace;
}

/* ---- Lines ---------------------------------------------------------------------------------- */

static void add_serial(struct text *out, uint32_t thread, uint32_t count)
{
    text_add(out, "T");
    text_add_number(out, thread);
    if (!count)
        return;
    text_add(out, "#");
    text_add_number(out, count);
}

/* "0.001234 T1#4213 malloc 40 at 0x55d0c0a012a0" */
static void add_event(struct text *out, uint32_t thread, uint32_t count, const char *what,
                      const struct block *block)
{
    uint64_t us = (sys_clock_ns(CLOCK_MONOTONIC) - began) / 1000;
    char digits[24];
    struct text fraction = TEXT_ON(digits);
    text_add_number(&fraction, 1000000 + us % 1000000); /* the zeros */
    text_add_number(out, us / 1000000);
    text_add(out, ".");
    text_add(out, digits + 1);
    text_add(out, " ");
    add_serial(out, thread, count);
    text_add(out, " ");
    text_add(out, what);
    text_add(out, " ");
    if (block->site) {
        text_add_number(out, block->size);
        text_add(out, " at ");
    }
    text_add_hex(out, block->address);
    if (count || !block->site)
        return;
    text_add(out, ", ");
    add_serial(out, block->thread, block->count);
}

/* "@ /usr/bin/app:[0x1139] + 0x55d0c0a012a0 0x28" */
static void add_event_for_mtrace(struct guard *guard, struct text *out, uintptr_t pc,
                                 const char *sign, const struct block *block)
{
    text_add(out, "@ ");
    add_place(guard, out, pc);
    text_add(out, sign);
    text_add_hex(out, block->address);
    if (sign[1] == '-' || sign[1] == '<')
        return;
    text_add(out, " ");
    text_add_hex(out, block->size);
}

/* What happened, in both tongues. count: of the new block, 0 = one goes. node: 0 = no stack here.
 */
struct event {
    const char *words, *sign;
    uint32_t thread, count, node;
    uintptr_t pc;
};

static void write_event(struct guard *guard, const struct event *event, const struct block *block)
{
    struct locked locked;
    struct text *out = journal_begin(&locked);
    if (!out)
        return;
    if (for_mtrace) {
        add_event_for_mtrace(guard, out, event->pc, event->sign, block);
    } else {
        add_event(out, event->thread, event->count, event->words, block);
        if (event->node < LEAK_NODE_FIRST) {
            text_add(out, event->count || !block->site ? " in " : ", in ");
            add_place(guard, out, event->pc);
        }
    }
    text_add(out, "\n");
    add_stack(guard, out, event->node);
    journal_end(&locked);
}

/* ---- Events --------------------------------------------------------------------------------- */

void eventlog_came(struct guard *guard, const struct frame *caller, struct thread *thread,
                   const struct block *block)
{
    bool moved = thread->moving == caller->pc;
    uint32_t node =
        eventlog_level >= STACKS_OF_ALLOCATIONS && block->site ? sites_node(block->site) : 0;
    struct event event = {
        moved ? "realloc gives" : tell_kind(block->kind & BLOCKS_KIND),
        moved ? " > " : " + ",
        block->thread,
        block->count,
        node,
        caller->pc,
    };
    thread->moving = 0;
    if (block->site)
        write_event(guard, &event, block);
}

void eventlog_went(struct guard *guard, const struct frame *caller, const struct block *block,
                   uint32_t how)
{
    const struct thread *thread;
    bool moves = release_form(how) == LEAK_FORM_REALLOC;
    uint32_t node = capture_call(
        guard, caller, track_options.site_stacks && eventlog_level >= STACKS_OF_FREES, &thread);
    struct event event = {
        moves ? "realloc takes" : tell_form(release_form(how)),
        moves ? " < " : " - ",
        thread ? thread->serial : 0,
        0,
        node,
        caller->pc,
    };
    if (moves && guard->thread)
        guard->thread->moving = caller->pc;
    write_event(guard, &event, block);
}

void eventlog_left(struct guard *guard, const struct block *block)
{
    struct thread *thread = guard->thread;
    struct event event = {"realloc leaves", " > ", thread ? thread->serial : 0, 0, 0, guard->pc};
    if (thread)
        thread->moving = 0;
    write_event(guard, &event, block);
}

void eventlog_unknown(struct guard *guard, const struct frame *caller, uintptr_t address,
                      uint32_t how)
{
    struct block block = {.address = address};
    if (!track_options.min_size && !track_options.max_size && !track_options.sample)
        eventlog_went(guard, caller, &block, how);
}

/* ---- Life ----------------------------------------------------------------------------------- */

void eventlog_start(const struct options *options, const char *program)
{
    if (!options->log)
        return;
    for_mtrace = options->log_format == LOG_FORMAT_MTRACE;
    began = sys_clock_ns(CLOCK_MONOTONIC);
    if (!journal_start(options->log_file, program))
        return;
    eventlog_level = options->log;
    if (options->verbosity)
        log_line("log: ", journal_path(), NULL);
}

void eventlog_end(bool wait)
{
    char words[24];
    struct text number = TEXT_ON(words);
    if (!eventlog_level)
        return;
    journal_trim(wait, true);
    text_add_number(&number, journal_lost());
    if (journal_lost())
        log_line("log: ", words, " events are missing at the end of ", journal_path(), NULL);
}

void eventlog_pause(void)
{
    if (eventlog_level)
        journal_trim(true, false);
}

void eventlog_fork_child(void)
{
    began = sys_clock_ns(CLOCK_MONOTONIC);
    if (eventlog_level)
        journal_fork_child();
}
