/* api.c - what a program may ask of libleak: libleak.h, and LeakSanitizer's names for the same.
 *
 * Every function is entered from the program's own code, outside of the runtime, and does nothing
 * in a process that has no account.
 */
#include "libleak.h"
#include "preload/atomic.h"
#include "preload/backtrace.h"
#include "preload/blocks.h"
#include "preload/capture.h"
#include "preload/carved.h"
#include "preload/counts.h"
#include "preload/farewell.h"
#include "preload/log.h"
#include "preload/lsan.h"
#include "preload/milestones.h"
#include "preload/process.h"
#include "preload/real.h"
#include "preload/reports.h"
#include "preload/roots.h"
#include "preload/scrub.h"
#include "preload/settings.h"
#include "preload/snapshot.h"
#include "preload/sys.h"
#include "preload/tags.h"
#include "preload/text.h"
#include "preload/threads.h"
#include "preload/track.h"

#include <stdlib.h>

/* The caller of an exported function with the token, or NULL. */
#define ENTER()                                                                                    \
    ({                                                                                             \
        struct frame caller_ = CALLER_FRAME();                                                     \
        process_enter(&caller_);                                                                   \
    })

/* A fork child gets its account first: then the token is given back, for the look is taken outside.
 */
static bool has_account(const struct frame *caller)
{
    struct guard *guard = process_enter(caller);
    if (guard)
        guard_leave(guard);
    return guard != NULL;
}

/* For the look that comes: nothing but a frame address passes over a scrubbed stack. */
static __thread uint32_t count_from __attribute__((tls_model("initial-exec")));

/* record: of the exported function. */
static NOINLINE long take_look(const uintptr_t *record)
{
    struct frame caller = FRAME_ABOVE(record);
    struct roots_taker taker = SNAPSHOT_TAKER(&caller);
    uint32_t since = count_from;
    count_from = 0;
    return has_account(&caller) ? snapshot_take(LEAK_OCCASION_ASKED, &taker, since) : -1;
}

EXPORT long libleak_snapshot(void)
{
    return ON_SCRUBBED_STACK(take_look);
}

EXPORT unsigned long libleak_moment(void)
{
    struct guard *guard = ENTER();
    if (!guard)
        return 0;
    uint32_t tick = milestones_begin_tick();
    guard_leave(guard);
    return tick;
}

EXPORT long libleak_lost_since(unsigned long moment)
{
    if (!moment)
        return -1;
    count_from = moment;
    return ON_SCRUBBED_STACK(take_look);
}

/* INDIRECT is lost, too; HIDDEN is what an xor or the like may lead to. */
EXPORT int libleak_found(struct libleak_findings *out)
{
    const struct look_sum *found = snapshot_found();
    *out = (struct libleak_findings){0};
    for (int verdict = 0; found && verdict < LEAK_VERDICT_MAX; verdict++) {
        const struct look_sum *sum = &found[verdict];
        bool lost = verdict == LEAK_VERDICT_LOST || verdict == LEAK_VERDICT_INDIRECT;
        bool reachable = verdict == LEAK_VERDICT_REACHABLE;
        *(lost        ? &out->lost_blocks
          : reachable ? &out->reachable_blocks
                      : &out->possible_blocks) += sum->blocks;
        *(lost        ? &out->lost_bytes
          : reachable ? &out->reachable_bytes
                      : &out->possible_bytes) += sum->bytes;
    }
    return found ? 0 : -1;
}

static void (*expect_failed)(const char *file, int line, long blocks);

EXPORT void libleak_at_expect_failed(void (*callback)(const char *file, int line, long blocks))
{
    store_release(&expect_failed, callback);
}

EXPORT void libleak_expect_failed(const char *file, int line, long blocks)
{
    void (*callback)(const char *, int, long) = load_acquire(&expect_failed);
    if (callback) {
        callback(file, line, blocks);
        return;
    }
    char buffer[32];
    struct text number = TEXT_ON(buffer);
    text_add(&number, ":");
    text_add_number(&number, line);
    text_add(&number, ": ");
    text_add_number(&number, blocks);
    log_line(file, buffer, blocks == 1 ? " block was" : " blocks were",
             " lost where none was to be", NULL);
    abort();
}

/* The number of the calling thread, 0 when it has none. */
static uint32_t own_serial(const struct frame *caller)
{
    struct locked shared;
    struct guard *guard = process_enter(caller);
    struct thread *thread = guard ? threads_self(guard, &shared) : NULL;
    uint32_t serial = thread ? thread->serial : 0;
    if (thread)
        threads_done(thread, &shared);
    if (guard)
        guard_leave(guard);
    return serial;
}

/* All that the process lost, or one thread. */
#define REPORT(function, one)                                                                      \
    EXPORT long function(const char *file)                                                         \
    {                                                                                              \
        long lost = ON_SCRUBBED_STACK(take_look);                                                  \
        struct frame caller = CALLER_FRAME();                                                      \
        uint32_t serial = own_serial(&caller);                                                     \
        struct reports_wish wish = {.file = file, .thread = (one) ? serial : 0};                   \
        return serial && reports_now(&wish) ? lost : -1;                                           \
    }

REPORT(libleak_report, false)
REPORT(libleak_report_thread, true)

EXPORT int libleak_mark(const char *name)
{
    struct guard *guard = ENTER();
    if (!guard)
        return -1;
    uint32_t number = name && name[0] ? milestones_add(name) : 0;
    guard_leave(guard);
    return number ? 0 : -1;
}

/* disable: or enable; all: or the calling thread. */
#define SWITCH(function, disable, all)                                                             \
    EXPORT void function(void)                                                                     \
    {                                                                                              \
        struct guard *guard = ENTER();                                                             \
        if (!guard)                                                                                \
            return;                                                                                \
        if (all)                                                                                   \
            capture_disable_all(disable);                                                          \
        else                                                                                       \
            capture_disable(guard, disable);                                                       \
        guard_leave(guard);                                                                        \
    }

SWITCH(libleak_disable, true, false)
SWITCH(libleak_enable, false, false)
SWITCH(libleak_disable_all, true, true)
SWITCH(libleak_enable_all, false, true)

EXPORT int libleak_ignore(const void *p)
{
    struct guard *guard = ENTER();
    struct block found;
    if (!guard)
        return -1;
    if (load_relaxed(&carved_count) && carved_ignore(guard, arch_address(p))) {
        guard_leave(guard);
        return 0;
    }
    bool known = blocks_find_around(guard, (uintptr_t)p, &found) &&
                 track_take(guard, (void *)found.address, &found);
    if (known) {
        found.kind |= BLOCKS_IGNORED;
        track_put_back(guard, &found);
    }
    guard_leave(guard);
    return known ? 0 : -1;
}

EXPORT int libleak_mark_reported(void)
{
    struct guard *guard = ENTER();
    if (!guard)
        return -1;
    uint32_t number = milestones_add_known();
    guard_leave(guard);
    return number ? 0 : -1;
}

EXPORT void libleak_add_root(const void *start, size_t size)
{
    struct guard *guard = ENTER();
    if (!guard)
        return;
    roots_add((uintptr_t)start, size);
    guard_leave(guard);
}

EXPORT void libleak_remove_root(const void *start, size_t size)
{
    struct guard *guard = ENTER();
    if (!guard)
        return;
    roots_remove((uintptr_t)start, size);
    guard_leave(guard);
}

EXPORT int libleak_at_report(void (*callback)(void))
{
    struct guard *guard = ENTER();
    if (!guard)
        return -1;
    bool added = farewell_add(guard, callback);
    guard_leave(guard);
    return added ? 0 : -1;
}

static int tell_counts(const struct leak_counts *counts, bool known, struct libleak_counts *out)
{
    *out = (struct libleak_counts){.allocations = counts->allocs,
                                   .frees = counts->frees,
                                   .allocated_bytes = counts->bytes,
                                   .freed_bytes = counts->freed_bytes,
                                   .live_blocks = counts->allocs - counts->frees,
                                   .live_bytes = counts->bytes - counts->freed_bytes};
    return known ? 0 : -1;
}

EXPORT int libleak_count(struct libleak_counts *out)
{
    struct leak_counts counts = {0};
    struct guard *guard = ENTER();
    if (guard) {
        counts = counts_of_process(guard);
        guard_leave(guard);
    }
    return tell_counts(&counts, guard, out);
}

EXPORT int libleak_count_thread(struct libleak_counts *out)
{
    struct leak_counts counts = {0};
    struct guard *guard = ENTER();
    bool known = guard && counts_of_thread(guard, &counts);
    if (guard)
        guard_leave(guard);
    return tell_counts(&counts, known, out);
}

EXPORT int libleak_count_tag(const char *name, struct libleak_counts *out)
{
    struct leak_counts counts = {0};
    struct guard *guard = ENTER();
    unsigned tag = guard ? tags_find(name) : 0;
    if (tag)
        counts = counts_of_tag(guard, tag);
    if (guard)
        guard_leave(guard);
    return tell_counts(&counts, tag, out);
}

EXPORT int libleak_tag_push(const char *name)
{
    struct guard *guard = ENTER();
    if (!guard)
        return -1;
    bool pushed = tags_push(guard, name);
    guard_leave(guard);
    return pushed ? 0 : -1;
}

EXPORT int libleak_tag_pop(void)
{
    struct guard *guard = ENTER();
    if (!guard)
        return -1;
    bool popped = tags_pop(guard);
    guard_leave(guard);
    return popped ? 0 : -1;
}

EXPORT int libleak_get_option(const char *name, char *buffer, size_t size)
{
    struct guard *guard = ENTER();
    if (!guard) {
        if (size)
            buffer[0] = '\0';
        return -1;
    }
    bool told = settings_get(name, buffer, size);
    guard_leave(guard);
    return told ? 0 : -1;
}

EXPORT int libleak_set_option(const char *name, const char *value)
{
    struct guard *guard = ENTER();
    if (!guard)
        return -1;
    bool changed = settings_set(guard, name, value);
    guard_leave(guard);
    return changed ? 0 : -1;
}

EXPORT void libleak_set_report_hook(int (*hook)(const char *line, void *context), void *context)
{
    log_show_to(hook, context);
}

EXPORT void libleak_backtrace_fd(const void *context, int fd)
{
    struct frame caller = CALLER_FRAME();
    if (process_running())
        backtrace_write(context, &caller, fd);
}

/* ---- LeakSanitizer's ------------------------------------------------------------------------ */

static __thread unsigned disabled __attribute__((tls_model("initial-exec")));

EXPORT void __lsan_disable(void);
EXPORT void __lsan_disable(void)
{
    disabled++;
    guard_self.kind_flags = BLOCKS_IGNORED;
}

EXPORT void __lsan_enable(void);
EXPORT void __lsan_enable(void)
{
    if (disabled && --disabled == 0)
        guard_self.kind_flags = 0;
}

EXPORT void __lsan_ignore_object(const void *block);
EXPORT void __lsan_ignore_object(const void *block)
{
    libleak_ignore(block);
}

EXPORT void __lsan_register_root_region(const void *start, size_t size);
EXPORT void __lsan_register_root_region(const void *start, size_t size)
{
    libleak_add_root(start, size);
}

EXPORT void __lsan_unregister_root_region(const void *start, size_t size);
EXPORT void __lsan_unregister_root_region(const void *start, size_t size)
{
    libleak_remove_root(start, size);
}

EXPORT int __lsan_do_recoverable_leak_check(void);
EXPORT int __lsan_do_recoverable_leak_check(void)
{
    return lsan_detects() && ON_SCRUBBED_STACK(take_look) > 0;
}

/* The check at the end is done with it; a program that leaks ends here (LSAN_OPTIONS=exitcode=). */
EXPORT void __lsan_do_leak_check(void);
EXPORT void __lsan_do_leak_check(void)
{
    if (lsan_detects() && snapshot_no_more() && ON_SCRUBBED_STACK(take_look) > 0 &&
        lsan_exit_code())
        real.exit(lsan_exit_code());
}
