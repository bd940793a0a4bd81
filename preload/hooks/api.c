/* api.c - the public API: the functions of libleak.h, and those of LeakSanitizer's interface.
 *
 * Every function is entered from the program's own code, outside of the runtime, and does nothing
 * in a process that is not recorded.
 */
#define LIBLEAK_IMPLEMENTATION
#include "libleak.h"
#include "preload/base/base.h"
#include "preload/unwind/unwind.h"
#include "preload/blocks/blocks.h"
#include "preload/heap/capture.h"
#include "preload/heap/suballoc.h"
#include "preload/heap/site_totals.h"
#include "preload/leakcheck/snapshot.h"
#include "preload/leakcheck/stack_scrub.h"
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
#include "preload/track/annotate.h"
#include "preload/track/track.h"

#include <stdlib.h>

/* Evaluates "done", a call that returns true for success, with the token (WITH_GUARD). The value of
 * the macro is the result of an exported function: 0, or -1 if the call failed or the process is
 * not recorded. */
#define SUCCESS(done)                                                                              \
    ({                                                                                             \
        bool done_ = false;                                                                        \
        WITH_GUARD(done_ = (done));                                                                \
        done_ ? 0 : -1;                                                                            \
    })

/* Says whether the process is recorded. In a fork child, recording begins with this call. The token
 * is given back, because a leak check runs without it. */
static bool is_recorded(const struct frame *caller)
{
    struct guard *guard = process_enter(caller);
    if (guard)
        guard_leave(guard);
    return guard != NULL;
}

/* Arguments of the next leak check of this thread. They are in a variable, because
 * ON_SCRUBBED_STACK, which calls the function that makes the check, passes nothing but a frame
 * address. */
static __thread struct snapshot_wish next_wish __attribute__((tls_model("initial-exec")));

/* Makes a leak check and returns the number of lost blocks, -1: none was made. record: the frame
 * record of the exported function. */
static NOINLINE long run_leak_check(const uintptr_t *record)
{
    struct frame caller = FRAME_ABOVE(record);
    struct roots_caller taker = SNAPSHOT_CALLER(&caller);
    struct snapshot_wish wish = next_wish;
    next_wish = (struct snapshot_wish){0};
    return is_recorded(&caller) ? snapshot_take(LEAK_OCCASION_ASKED, &taker, &wish) : -1;
}

SCRUBBED(long, libleak_snapshot, (void))
{
    return ON_SCRUBBED_STACK(run_leak_check);
}

SCRUBBED(long, libleak_snapshot_graph, (const char *file))
{
    if (!file || !*file)
        return -1;
    next_wish.graph_file = file;
    return ON_SCRUBBED_STACK(run_leak_check);
}

EXPORT const char *libleak_version(void)
{
    return LEAK_VERSION;
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
    next_wish.since = moment;
    return ON_SCRUBBED_STACK(run_leak_check);
}

/* Returns the number of blocks and bytes that the last leak check found: LOST and INDIRECT blocks
 * count as lost, REACHABLE ones as reachable, all others as possible. */
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
    struct strbuf number = STRBUF_ON(buffer);
    strbuf_add(&number, ":");
    strbuf_add_number(&number, line);
    strbuf_add(&number, ": ");
    strbuf_add_number(&number, blocks);
    log_line(file, buffer, blocks == 1 ? " block was" : " blocks were",
             " lost where none was to be", NULL);
    abort();
}

/* Returns the number that libleak gave the calling thread (T1, T2 ...); 0: it has none. */
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

/* Defines an exported function that makes a leak check and writes a report, of the whole process,
 * or with one_thread only of the calling thread. */
#define REPORT(function, one_thread)                                                               \
    SCRUBBED(long, function, (const char *file))                                                   \
    {                                                                                              \
        long lost = ON_SCRUBBED_STACK(run_leak_check);                                             \
        struct frame caller = CALLER_FRAME();                                                      \
        uint32_t serial = own_serial(&caller);                                                     \
        struct reports_request wish = {.file = file, .thread = (one_thread) ? serial : 0};         \
        return serial && reports_write(&wish) ? lost : -1;                                         \
    }

REPORT(libleak_report, false)
REPORT(libleak_report_thread, true)

/* Define an exported function that makes a call with the token. API: the function returns nothing.
 * TRY: the function returns 0, or -1 if the call failed. */
#define API(name, parameters, call)                                                                \
    EXPORT void name parameters                                                                    \
    {                                                                                              \
        WITH_GUARD(call);                                                                          \
    }
#define TRY(name, parameters, done)                                                                \
    EXPORT int name parameters                                                                     \
    {                                                                                              \
        return SUCCESS(done);                                                                      \
    }

TRY(libleak_mark, (const char *name), name &&name[0] && milestones_add(name))
TRY(libleak_mark_reported, (void), milestones_add_known())
API(libleak_disable, (void), capture_disable(guard, true))
API(libleak_enable, (void), capture_disable(guard, false))
API(libleak_disable_all, (void), capture_disable_all(true))
API(libleak_enable_all, (void), capture_disable_all(false))
API(libleak_add_root, (const void *start, size_t size), roots_add_region((uintptr_t)start, size))
API(libleak_remove_root, (const void *start, size_t size),
    roots_remove_region((uintptr_t)start, size))
TRY(libleak_at_report, (void (*callback)(void)), exit_callbacks_add(guard, callback))

static bool ignore_block(struct guard *guard, const void *p)
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

TRY(libleak_ignore, (const void *p), ignore_block(guard, p))

static struct libleak_counts public_counts(struct leak_counts counts)
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
    WITH_GUARD(*out = public_counts(totals_of_process(guard)); answer = 0);
    return answer;
}

static bool count_thread(struct guard *guard, struct libleak_counts *out)
{
    struct leak_counts counts;
    bool known = totals_of_thread(guard, &counts);
    if (known)
        *out = public_counts(counts);
    return known;
}

EXPORT int libleak_count_thread(struct libleak_counts *out)
{
    *out = (struct libleak_counts){0};
    return SUCCESS(count_thread(guard, out));
}

static bool count_tag(struct guard *guard, const char *name, struct libleak_counts *out)
{
    unsigned tag = tags_find(name);
    if (tag)
        *out = public_counts(totals_of_tag(guard, tag));
    return tag;
}

EXPORT int libleak_count_tag(const char *name, struct libleak_counts *out)
{
    *out = (struct libleak_counts){0};
    return SUCCESS(count_tag(guard, name, out));
}

TRY(libleak_tag_push, (const char *name), tags_push(guard, name))
TRY(libleak_tag_pop, (void), tags_pop(guard))

EXPORT int libleak_get_option(const char *name, char *buffer, size_t size)
{
    if (size)
        buffer[0] = '\0';
    return SUCCESS(runtime_options_get(name, buffer, size));
}

TRY(libleak_set_option, (const char *name, const char *value),
    runtime_options_set(guard, name, value))

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

/* ---- The program's own allocators ------------------------------------------------------------ */

API(libleak_block_new, (const void *p, size_t size), annotate_block_new(guard, &caller, p, size))
API(libleak_block_resize, (const void *p, size_t size),
    annotate_block_resize(guard, &caller, p, size))
API(libleak_block_gone, (const void *p), annotate_block_free(guard, &caller, p))
API(libleak_pool_create, (const void *pool, const char *name),
    annotate_pool_create(guard, pool, name))
API(libleak_pool_move, (const void *pool, const void *to), annotate_pool_move(guard, pool, to))
API(libleak_pool_alloc, (const void *pool, const void *p, size_t size),
    annotate_pool_alloc(guard, &caller, pool, p, size))
API(libleak_pool_free, (const void *pool, const void *p),
    annotate_pool_free(guard, &caller, pool, p))
API(libleak_pool_change, (const void *pool, const void *p, const void *now, size_t size),
    annotate_pool_resize(guard, &caller, pool, p, now, size))
API(libleak_pool_trim, (const void *pool, const void *start, size_t size),
    annotate_pool_trim(guard, &caller, pool, start, size))
API(libleak_pool_destroy, (const void *pool), annotate_pool_destroy(guard, &caller, pool))

EXPORT int libleak_pool_exists(const void *pool)
{
    int answer = -1;
    WITH_GUARD(answer = annotate_pool_exists(guard, pool));
    return answer;
}

/* ---- LeakSanitizer's interface --------------------------------------------------------------- */

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

#define LSAN(type, name, parameters, result)                                                       \
    EXPORT type name parameters;                                                                   \
    EXPORT type name parameters                                                                    \
    {                                                                                              \
        return result;                                                                             \
    }

LSAN(void, __lsan_ignore_object, (const void *block), (void)libleak_ignore(block))
LSAN(void, __lsan_register_root_region, (const void *start, size_t size),
     libleak_add_root(start, size))
LSAN(void, __lsan_unregister_root_region, (const void *start, size_t size),
     libleak_remove_root(start, size))

SCRUBBED(int, __lsan_do_recoverable_leak_check, (void))
{
    return lsan_detect_leaks() && ON_SCRUBBED_STACK(run_leak_check) > 0;
}

/* Makes the leak check that would be made at exit, now. If it finds leaks, the program ends here
 * (LSAN_OPTIONS=exitcode=). */
SCRUBBED(void, __lsan_do_leak_check, (void))
{
    if (lsan_detect_leaks() && snapshot_disable() && ON_SCRUBBED_STACK(run_leak_check) > 0 &&
        lsan_exit_code())
        real.exit(lsan_exit_code());
}
