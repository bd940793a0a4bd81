#include "preload/process/deferred_work.h"
#include "preload/base/atomic.h"
#include "preload/heap/capture.h"
#include "preload/base/memory_limits.h"
#include "preload/options/options.h"
#include "preload/signals/stop_the_world.h"
#include "preload/process/reports.h"
#include "preload/process/control_requests.h"
#include "preload/leakcheck/snapshot.h"
#include "preload/store/store.h"
#include "preload/base/sys.h"
#include "preload/heap/threads.h"
#include "context.h"

#define RETRY 1000000ull /* ns: the thread was inside of the runtime */

enum wish {
    WISH_AGAIN = 0, /* the timer of a second try: what is still wished */
    WISH_LOOK = 1,
    WISH_LIMIT = 2,
    WISH_PERIODIC = 4,
    WISH_REQUEST = 8,
    WISH_ENABLE = 16,
    WISH_REPORT = 32,
};

static uint32_t wishes;
static int again;       /* timer + 1 */
static bool enable_due; /* start_after: its time has not come */

static void try_again_soon(void)
{
    if (again <= 0)
        again = sys_timer(park_signal(), WISH_AGAIN) + 1;
    if (again > 0)
        sys_timer_set(again - 1, RETRY, 0);
}

static uint32_t wish_of(const siginfo_t *info)
{
    if (info->si_code == SI_TIMER)
        return info->si_value.sival_int;
    return park_is_request(info) ? WISH_REQUEST : WISH_LOOK;
}

/* In a hook, where no look can be taken: in a moment, from the handler. */
static void wish_near_limit(void)
{
    or_relaxed(&wishes, WISH_LIMIT);
    try_again_soon();
}

/* What could not be done now. */
static uint32_t look_for(uint32_t wish, enum leak_occasion occasion,
                         const struct roots_taker *taker)
{
    uint32_t milestone;
    return snapshot_begin(occasion, taker, 0, &milestone) == SNAPSHOT_BUSY ? wish : 0;
}

static uint32_t serve(uint32_t now, const struct roots_taker *taker)
{
    uint32_t left = 0;
    if (now & WISH_ENABLE) {
        enable_due = false;
        capture_disable_all(false);
    }
    if (now & WISH_REPORT)
        reports_take_turn();
    if (now & WISH_REQUEST && !requests_serve(taker))
        left |= WISH_REQUEST;
    if (now & WISH_LIMIT)
        left |= look_for(WISH_LIMIT, LEAK_OCCASION_LIMIT, taker);
    if (now & WISH_LOOK)
        left |= look_for(WISH_LOOK, LEAK_OCCASION_SIGNAL, taker);
    if (now & WISH_PERIODIC)
        look_for(WISH_PERIODIC, LEAK_OCCASION_PERIODIC, taker);
    return left;
}

/* In the handler: any thread, anywhere. */
static void asked(siginfo_t *info, ucontext_t *context)
{
    if (!store_header || store_header->pid != sys_getpid())
        return;
    uint32_t now = exchange_relaxed(&wishes, 0) | wish_of(info);
    uint32_t left = now & ~(WISH_PERIODIC | WISH_REPORT);
    struct roots_taker taker = {.tid = sys_gettid(),
                                .sp = context_sp(context),
                                .frame = context_sp(context),
                                .pc = context_pc(context),
                                .fp = context_fp(context),
                                .context = context};
    if (!park_inside())
        left = serve(now, &taker);
    if (!left)
        return;
    or_relaxed(&wishes, left);
    try_again_soon();
}

static void start_timer(enum wish wish, uint64_t first, uint64_t every)
{
    int timer = first ? sys_timer(park_signal(), wish) : -1;
    if (timer >= 0)
        sys_timer_set(timer, first, every);
}

static void start_timers(void)
{
    start_timer(WISH_PERIODIC, track_options.snapshot_every, track_options.snapshot_every);
    start_timer(WISH_REPORT, track_options.report_every, track_options.report_every);
    if (enable_due)
        start_timer(WISH_ENABLE, track_options.start_after, 0);
}

void asked_start(void)
{
    park_start(track_options.snapshot_signal, asked, threads_on_own_stack);
    park_listen();
    enable_due = track_options.start && track_options.start_after;
    start_timers();
    limits_watch(track_options.near_limit, wish_near_limit);
}

void asked_fork_child(void)
{
    wishes = 0;
    again = 0;
    limits_fork_child();
    start_timers();
}
