/* api.c - what a program may ask of libleak: libleak.h, and LeakSanitizer's names for the same.
 *
 * Every function is entered from the program's own code, outside of the runtime, and does nothing
 * in a process that has no account.
 */
#define LIBLEAK_IMPLEMENTATION
#include "libleak.h"
#include "preload/base/base.h"
#include "preload/unwind/unwind.h"
#include "preload/heap/blocks.h"
#include "preload/heap/capture.h"
#include "preload/heap/suballoc.h"
#include "preload/heap/site_totals.h"
#include "preload/leakcheck/snapshot.h"
#include "preload/base/log.h"
#include "preload/process/lsan.h"
#include "preload/track/milestones.h"
#include "preload/process/process.h"
#include "preload/interpose/real_functions.h"
#include "preload/process/reports.h"
#include "preload/roots/roots.h"
#include "preload/base/sys.h"
#include "preload/base/strbuf.h"
#include "preload/heap/threads.h"
#include "preload/track/track.h"

#include <stdlib.h>

/* WITH_GUARD, and what the function returns: 0, or -1 when it was not done, or there is no account.
 */
#define ANSWER(done)                                                                               \
    ({                                                                                             \
        bool done_ = false;                                                                        \
        WITH_GUARD(done_ = (done));                                                                \
        done_ ? 0 : -1;                                                                            \
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
    struct roots_caller taker = SNAPSHOT_CALLER(&caller);
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
    uint32_t tick = 0;
    WITH_GUARD(tick = milestones_begin_tick());
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
    const struct leak_check_sum *found = snapshot_last_sums();
    *out = (struct libleak_findings){0};
    for (int verdict = 0; found && verdict < LEAK_VERDICT_MAX; verdict++) {
        const struct leak_check_sum *sum = &found[verdict];
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
    struct text number = STRBUF_ON(buffer);
    strbuf_add(&number, ":");
    strbuf_add_number(&number, line);
    strbuf_add(&number, ": ");
    strbuf_add_number(&number, blocks);
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
        struct reports_request wish = {.file = file, .thread = (one) ? serial : 0};                   \
        return serial && reports_write(&wish) ? lost : -1;                                           \
    }

REPORT(libleak_report, false)
REPORT(libleak_report_thread, true)

EXPORT int libleak_mark(const char *name)
{
    return ANSWER(name && name[0] && milestones_add(name));
}

EXPORT void libleak_disable(void)
{
    WITH_GUARD(capture_disable(guard, true));
}

EXPORT void libleak_enable(void)
{
    WITH_GUARD(capture_disable(guard, false));
}

EXPORT void libleak_disable_all(void)
{
    WITH_GUARD(capture_disable_all(true));
}

EXPORT void libleak_enable_all(void)
{
    WITH_GUARD(capture_disable_all(false));
}

static bool ignore(struct guard *guard, const void *p)
{
    struct block found;
    if (load_relaxed(&suballoc_count) && suballoc_ignore(guard, arch_address(p)))
        return true;
    if (!blocks_find_containing(guard, (uintptr_t)p, &found) ||
        !track_remove(guard, (void *)found.address, &found))
        return false;
    found.kind |= BLOCKS_IGNORED;
    track_reinsert(guard, &found);
    return true;
}

EXPORT int libleak_ignore(const void *p)
{
    return ANSWER(ignore(guard, p));
}

EXPORT int libleak_mark_reported(void)
{
    return ANSWER(milestones_add_known());
}

EXPORT void libleak_add_root(const void *start, size_t size)
{
    WITH_GUARD(roots_add_region((uintptr_t)start, size));
}

EXPORT void libleak_remove_root(const void *start, size_t size)
{
    WITH_GUARD(roots_remove_region((uintptr_t)start, size));
}

EXPORT int libleak_at_report(void (*callback)(void))
{
    return ANSWER(exit_callbacks_add(guard, callback));
}

static struct libleak_counts counts_told(struct leak_counts counts)
{
    return (struct libleak_counts){.allocations = counts.allocs,
                                   .frees = counts.frees,
                                   .allocated_bytes = counts.bytes,
                                   .freed_bytes = counts.freed_bytes,
                                   .live_blocks = counts.allocs - counts.frees,
                                   .live_bytes = counts.bytes - counts.freed_bytes};
}

EXPORT int libleak_count(struct libleak_counts *out)
{
    int answer = -1;
    *out = (struct libleak_counts){0};
    WITH_GUARD(*out = counts_told(totals_of_process(guard)); answer = 0);
    return answer;
}

static bool count_thread(struct guard *guard, struct libleak_counts *out)
{
    struct leak_counts counts;
    bool known = totals_of_thread(guard, &counts);
    if (known)
        *out = counts_told(counts);
    return known;
}

EXPORT int libleak_count_thread(struct libleak_counts *out)
{
    *out = (struct libleak_counts){0};
    return ANSWER(count_thread(guard, out));
}

static bool count_tag(struct guard *guard, const char *name, struct libleak_counts *out)
{
    unsigned tag = tags_find(name);
    if (tag)
        *out = counts_told(totals_of_tag(guard, tag));
    return tag;
}

EXPORT int libleak_count_tag(const char *name, struct libleak_counts *out)
{
    *out = (struct libleak_counts){0};
    return ANSWER(count_tag(guard, name, out));
}

EXPORT int libleak_tag_push(const char *name)
{
    return ANSWER(tags_push(guard, name));
}

EXPORT int libleak_tag_pop(void)
{
    return ANSWER(tags_pop(guard));
}

EXPORT int libleak_get_option(const char *name, char *buffer, size_t size)
{
    if (size)
        buffer[0] = '\0';
    return ANSWER(runtime_options_get(name, buffer, size));
}

EXPORT int libleak_set_option(const char *name, const char *value)
{
    return ANSWER(runtime_options_set(guard, name, value));
}

EXPORT void libleak_set_report_hook(int (*hook)(const char *line, void *context), void *context)
{
    log_set_hook(hook, context);
}

EXPORT void libleak_backtrace_fd(const void *context, int fd)
{
    struct frame caller = CALLER_FRAME();
    if (process_is_running())
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
    return lsan_detect_leaks() && ON_SCRUBBED_STACK(take_look) > 0;
}

/* The check at the end is done with it; a program that leaks ends here (LSAN_OPTIONS=exitcode=). */
EXPORT void __lsan_do_leak_check(void);
EXPORT void __lsan_do_leak_check(void)
{
    if (lsan_detect_leaks() && snapshot_disable() && ON_SCRUBBED_STACK(take_look) > 0 &&
        lsan_exit_code())
        real.exit(lsan_exit_code());
}
