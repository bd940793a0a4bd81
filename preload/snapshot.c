#include "preload/snapshot.h"
#include "preload/arena.h"
#include "preload/atomic.h"
#include "preload/blocks.h"
#include "preload/log.h"
#include "preload/look.h"
#include "preload/park.h"
#include "preload/quiet.h"
#include "preload/sites.h"
#include "preload/store.h"
#include "preload/sys.h"
#include "preload/track.h"

#include <signal.h>
#include <time.h>

#define PARK_AT_MOST 1000000000ull /* ns */
#define POLL 20000000ull           /* ns between two questions whether the child is still there */
#define NEWER_BLOCKS 4096          /* that may come between the count and the copy */

static unsigned classes;
static uint32_t busy;      /* a look is being taken */
static uint32_t skipped;   /* periodic looks left out */
static bool no_more;
static struct park park;

/* The look that is under way or was the last one: EARLY, for LATE. */
static struct {
    int pid;
    struct look_result *result;
    size_t size;
} early;

/* ---- What cannot be --------------------------------------------------------------------------------- */

/* Why there is no sense in a look, or none can be had. */
static enum leak_trouble hopeless(void)
{
    if (track_options.sample)
        return LEAK_TROUBLE_SAMPLED;
    if (track_options.min_size || track_options.max_size)
        return LEAK_TROUBLE_FILTERED;
    return LEAK_TROUBLE_NONE;
}

static void say_trouble(enum leak_occasion occasion, enum leak_trouble trouble)
{
    struct leak_snapshot head = {.head_size = sizeof head,
                                 .rung = LEAK_RUNG_NONE,
                                 .occasion = occasion,
                                 .trouble = trouble,
                                 .when_ns = sys_clock_ns(CLOCK_REALTIME),
                                 .tick = load_relaxed(&store_header->epoch),
                                 .sites = sites_last(),
                                 .skipped = skipped};
    store_put(LEAK_CHUNK_SNAPSHOT, &head, sizeof head);
}

/* ---- The copy ---------------------------------------------------------------------------------------- */

static struct look_result *make_result(uint64_t blocks, size_t *size)
{
    *size = round_up(sizeof(struct look_result) + blocks * sizeof(struct look_note), LEAK_PAGE);
    struct look_result *result = sys_map_shared(*size);
    if (!result)
        return NULL;
    arena_own(result, *size);
    result->notes_most = blocks < UINT32_MAX ? blocks : UINT32_MAX - 1;
    return result;
}

static void drop_result(struct look_result *result, size_t size)
{
    if (!result)
        return;
    arena_disown(result);
    sys_unmap(result, size);
}

/* The child's pid; -errno when there can be none. */
static int copy(struct look_order *order)
{
    int pid = sys_copy();
    if (pid == 0)
        look(order);
    return pid;
}

/* Everybody stands: no lock of ours is held by anybody. */
static int copy_parked(struct look_order *order)
{
    uint64_t begun = sys_clock_ns(CLOCK_MONOTONIC);
    order->park = &park;
    order->stopped = true;
    if (!park_all(&park, PARK_AT_MOST))
        return 0;
    int pid = copy(order);
    park_release(&park);
    store_release(&order->result->pause_ns, sys_clock_ns(CLOCK_MONOTONIC) - begun);
    return pid;
}

static bool wait_for(int pid, struct look_result *result, uint64_t most)
{
    uint64_t begun = sys_clock_ns(CLOCK_MONOTONIC);
    while (!load_acquire(&result->done)) { /* pairs with the child */
        if (sys_has_ended(pid))
            return load_acquire(&result->done);
        if (sys_clock_ns(CLOCK_MONOTONIC) - begun > most) {
            sys_kill(pid, SIGKILL);
            sys_wait(pid);
            return false;
        }
        sys_futex_wait_shared_for(&result->done, 0, POLL);
    }
    sys_wait(pid);
    return true;
}

/* Threads ran on while the picture was taken; nobody may be in the middle of anything of ours. The
 * first of two pictures is waited for: its words are the second one's. */
static int copy_running(struct look_order *order)
{
    size_t size;
    struct look_order first = *order;
    first.stopped = false;
    first.silent = true;
    first.result = make_result(blocks_count() + NEWER_BLOCKS, &size);
    if (!first.result)
        return -1;
    quiet_begin();
    int pid = copy(&first);
    quiet_end();
    bool done = pid > 0 && wait_for(pid, first.result, track_options.exit_budget) &&
                !first.result->trouble;
    order->stopped = false;
    order->before = first.result;
    order->twice = true;
    if (done) {
        quiet_begin();
        pid = copy(order);
        quiet_end();
    }
    drop_result(first.result, size);
    return done ? pid : -1;
}

/* ---- One look ------------------------------------------------------------------------------------------ */

struct taken {
    int pid;
    struct look_result *result;
    size_t size;
};

/* Signals of the program's would run its handlers while others stand, who may hold what they need. */
static bool take(enum leak_occasion occasion, const struct roots_taker *taker,
                 const struct look_result *before, struct taken *out)
{
    uint64_t mask, blocks = blocks_count();
    struct look_order order = {.occasion = occasion,
                               .taker = taker,
                               .classes = classes,
                               .memory_most = track_options.look_mem,
                               .xor = track_options.xor,
                               .skipped = skipped,
                               .before = before};
    enum leak_trouble trouble = hopeless();
    if (!trouble && !(order.result = make_result(blocks + NEWER_BLOCKS, &out->size)))
        trouble = LEAK_TROUBLE_NO_MEMORY;
    if (!trouble) {
        sys_signals_block(&mask);
        out->pid = copy_parked(&order);
        if (!out->pid)
            out->pid = copy_running(&order);
        sys_signals_restore(&mask);
        if (out->pid <= 0)
            trouble = LEAK_TROUBLE_NO_CHILD;
    }
    out->result = order.result;
    if (!trouble)
        return true;
    drop_result(order.result, out->size);
    say_trouble(occasion, trouble);
    return false;
}

/* One at a time. Whoever waits holds nothing and can be parked. */
static void begin(void)
{
    uint32_t nobody = 0;
    while (!cas_acquire(&busy, &nobody, 1)) {
        sys_futex_wait(&busy, 1);
        nobody = 0;
    }
}

static void end(void)
{
    store_release(&busy, 0); /* pairs with begin */
    sys_futex_wake(&busy, 1);
}

/* The child's words are there, or the store says why not. */
static bool settle(const struct taken *taken, enum leak_occasion occasion)
{
    if (!wait_for(taken->pid, taken->result, track_options.exit_budget)) {
        say_trouble(occasion, sys_has_ended(taken->pid) ? LEAK_TROUBLE_DIED : LEAK_TROUBLE_NO_TIME);
        return false;
    }
    if (taken->result->trouble)
        say_trouble(occasion, taken->result->trouble);
    return !taken->result->trouble;
}

long snapshot_take(enum leak_occasion occasion, const struct roots_taker *taker, bool wait)
{
    struct taken taken;
    long lost = -1;
    begin();
    if (take(occasion, taker, NULL, &taken)) {
        if (!wait)
            ; /* it tells the store; whoever looks next buries it */
        else if (settle(&taken, occasion))
            lost = taken.result->lost_blocks;
        if (wait)
            drop_result(taken.result, taken.size);
    }
    end();
    return lost;
}

/* ---- The end of the process ------------------------------------------------------------------------- */

void snapshot_no_more(void)
{
    no_more = true;
}

void snapshot_early(const struct roots_taker *taker)
{
    struct taken taken;
    if (no_more || !track_options.exit_look || early.pid)
        return;
    begin();
    if (take(LEAK_OCCASION_EARLY, taker, NULL, &taken)) {
        early.pid = taken.pid;
        early.result = taken.result;
        early.size = taken.size;
    } else {
        early.pid = -1;
    }
    end();
}

struct comparison {
    uint32_t at, same;
    bool differs;
};

static void compare(const struct block *block, void *context)
{
    struct comparison *comparison = context;
    if (!comparison->differs && look_find_note(early.result, &comparison->at, block))
        comparison->same++;
    else
        comparison->differs = true;
}

/* Has exit code touched the heap at all? */
static bool nothing_changed(void)
{
    struct comparison comparison = {0};
    blocks_each(compare, &comparison);
    return !comparison.differs && comparison.same == early.result->notes;
}

void snapshot_late(const struct roots_taker *taker, enum leak_occasion occasion)
{
    struct taken taken;
    if (no_more || !track_options.exit_look || early.pid < 0)
        return;
    no_more = true;
    begin();
    bool known = early.pid && settle(&(struct taken){early.pid, early.result, early.size},
                                     LEAK_OCCASION_EARLY);
    if (!early.pid || (known && !nothing_changed())) {
        if (take(occasion, taker, known ? early.result : NULL, &taken))
            settle(&taken, occasion);
    }
    end();
}

/* ---- Start --------------------------------------------------------------------------------------------- */

static void asked(int code UNUSED, ucontext_t *context UNUSED)
{
}

void snapshot_start(void)
{
    const char *list = track_options.roots;
    if (!roots_read_classes(list, strlen(list), &classes)) {
        log_line("bad value in 'roots=", list,
                 "': it takes globals, stacks, registers, tls, user, anon; all are looked at", NULL);
        classes = ~0u;
    }
    roots_start();
    park_start(track_options.snapshot_signal, asked);
}

void snapshot_fork_child(void)
{
    busy = 0;
    early.pid = 0;
    if (early.result)
        drop_result(early.result, early.size);
    early.result = NULL;
    no_more = false;
}
