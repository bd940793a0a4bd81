#include "preload/leakcheck/snapshot.h"
#include "preload/base/base.h"
#include "preload/heap/blocks.h"
#include "preload/heap/suballoc.h"
#include "preload/base/children.h"
#include "preload/base/log.h"
#include "preload/signals/stop_the_world.h"
#include "preload/leakcheck/fork_snapshot.h"
#include "preload/leakcheck/all_locks.h"
#include "preload/unwind/sites.h"
#include "preload/store/store.h"
#include "preload/base/sys.h"
#include "preload/base/strbuf.h"
#include "preload/track/track.h"
#include "preload/base/lock.h"

#include <time.h>

#define PAUSE_AT_LEAST 10000000ull   /* ns */
#define PAUSE_A_GIGABYTE 55000000ull /* ns */

static unsigned classes;
static struct turn looking; /* of the thread that takes a look */
static uint32_t skipped;    /* periodic ones: over the budget, or somebody could not be held */
static bool no_more;

struct taken {
    int pid; /* 0: none; -1: it was tried in vain */
    enum leak_occasion occasion;
    struct look_result *result;
    size_t size;
    uintptr_t about;    /* an address that somebody asks about, 0: none */
    uint32_t since;     /* the tick from which on lost blocks are counted, 0: all are */
    uint32_t milestone; /* its own, 0: it is none */
};
/* Where the last two looks stand in the store: the older one is written over, so that a process may
 * be looked at for ever. */
static uint64_t places[2];

static struct taken early; /* for LATE */
static struct taken last;  /* that nobody waited for */

/* ---- What cannot be ------------------------------------------------------------------------- */

/* Why there is no sense in a look, or none can be had. */
static enum leak_trouble hopeless(void)
{
    if (options_current.sample)
        return LEAK_TROUBLE_SAMPLED;
    if (options_current.min_size || options_current.max_size)
        return LEAK_TROUBLE_FILTERED;
    if (load_relaxed(&store_header->untracked[LEAK_UNTRACKED_NO_MEMORY]))
        return LEAK_TROUBLE_UNTRACKED;
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
    store_write_chunk(LEAK_CHUNK_SNAPSHOT, &head, sizeof head);
}

/* ---- What is there of earlier ones ---------------------------------------------------------- */

static void note_place(uint64_t place)
{
    if (place == places[1])
        return;
    places[0] = places[1];
    places[1] = place;
}

/* Its words are forgotten; which process it was is not. */
static void drop_taken(struct taken *taken)
{
    struct look_result *result = taken->result;
    if (result && load_acquire(&result->done) && result->place)
        note_place(result->place);
    picture_drop_result(result, taken->size);
    taken->result = NULL;
}

/* ---- One look ------------------------------------------------------------------------------- */

/* Signals of the program's would run its handlers while others stand, who may hold what they need.
 */
static bool take(enum leak_occasion occasion, const struct roots_taker *taker,
                 const struct look_result *before, struct taken *out)
{
    uint64_t mask;
    struct look_order order = {
        .occasion = occasion,
        .taker = taker,
        .classes = classes,
        .memory_most = options_current.look_mem,
        .content_most = options_current.content,
        .skipped = skipped,
        .place = places[0],
        .before = before,
        .xor = options_current.xor
        , .about = out->about, .since = out->since, .is_milestone = look_is_milestone(occasion)};
    enum leak_trouble trouble = hopeless();
    if (!trouble &&
        !(order.result = picture_make_result(occasion == LEAK_OCCASION_EARLY, &out->size)))
        trouble = LEAK_TROUBLE_NO_MEMORY;
    out->result = order.result; /* before a handler of the program's can ask */
    if (!trouble) {
        sys_signals_block(&mask);
        uint64_t begun = sys_clock_ns(CLOCK_MONOTONIC);
        out->pid = picture_take_parked(&order);
        if (!out->pid && occasion != LEAK_OCCASION_PERIODIC)
            out->pid = picture_take_running(&order, &trouble);
        store_release(&order.result->pause_ns, sys_clock_ns(CLOCK_MONOTONIC) - begun);
        sys_signals_restore(&mask);
        if (!out->pid) { /* somebody could not be held */
            skipped++;
            drop_taken(out);
            return false;
        }
        if (out->pid <= 0 && !trouble)
            trouble = LEAK_TROUBLE_NO_CHILD;
    }
    if (!trouble) {
        out->milestone = order.milestone;
        return true;
    }
    drop_taken(out);
    say_trouble(occasion, trouble);
    return false;
}

static bool begin(void)
{
    return turnstile_enter(&looking, 2 * options_current.exit_budget);
}

static bool held; /* by the thread that calls exec */

void snapshot_hold(void)
{
    held = begin();
}

void snapshot_let_go(void)
{
    if (held)
        turnstile_leave(&looking);
    held = false;
}

/* The child's words are there, or the store says why not. */
static bool settle(const struct taken *taken, enum leak_occasion occasion)
{
    enum leak_trouble trouble = picture_wait(taken->pid, taken->result);
    if (trouble)
        say_trouble(occasion, trouble);
    return !trouble;
}

static struct look_sum last_found[LEAK_VERDICT_MAX]; /* of the last look that somebody waited for */
static bool looked;

long snapshot_take(enum leak_occasion occasion, const struct roots_taker *taker, uint32_t since)
{
    struct taken taken = {.since = since};
    long lost = -1;
    if (!begin())
        return -1;
    if (take(occasion, taker, NULL, &taken)) {
        if (settle(&taken, occasion))
            lost = taken.result->lost_blocks;
        if (lost >= 0) {
            memcpy(last_found, taken.result->found, sizeof last_found);
            looked = true;
        }
        drop_taken(&taken);
    }
    turnstile_leave(&looking);
    return lost;
}

const struct look_sum *snapshot_found(void)
{
    return looked ? last_found : NULL;
}

bool snapshot_is_busy(void)
{
    return turnstile_is_occupied(&looking) || children_any();
}

/* ---- The end of the process ----------------------------------------------------------------- */

bool snapshot_no_more(void)
{
    return !exchange_relaxed(&no_more, true);
}

/* As LeakSanitizer asks. */
extern int __lsan_is_turned_off(void) __attribute__((weak));

void snapshot_early(const struct roots_taker *taker)
{
    if (no_more || !options_current.exit_look || early.pid)
        return;
    if (__lsan_is_turned_off && __lsan_is_turned_off()) {
        snapshot_no_more();
        return;
    }
    if (!begin())
        return;
    if (!take(LEAK_OCCASION_EARLY, taker, NULL, &early))
        early.pid = -1;
    turnstile_leave(&looking);
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

/* Has exit code touched the heap at all? Other threads may be at it. */
static bool nothing_changed(void)
{
    struct comparison comparison = {0};
    uint64_t mask;
    sys_signals_block(&mask);
    comparison.differs = !blocks_settle();
    if (!comparison.differs) {
        quiet_begin();
        blocks_each(compare, &comparison);
        carved_each(compare, &comparison);
        quiet_end();
    }
    sys_signals_restore(&mask);
    return !comparison.differs && comparison.same == early.result->notes;
}

void snapshot_late(const struct roots_taker *taker, enum leak_occasion occasion)
{
    struct taken taken = {0};
    if (no_more || !options_current.exit_look || early.pid < 0)
        return;
    no_more = true;
    if (!begin())
        return;
    bool known = early.pid && settle(&early, LEAK_OCCASION_EARLY);
    if (known)
        note_place(early.result->place);
    if (!early.pid || (known && !nothing_changed())) {
        if (take(occasion, taker, known ? early.result : NULL, &taken))
            settle(&taken, occasion);
    }
    turnstile_leave(&looking);
}

/* ---- Start ---------------------------------------------------------------------------------- */

uint64_t snapshot_predicted_pause(void)
{
    char line[128];
    uint64_t pages = 0;
    if (sys_read_file("/proc/self/statm", line, sizeof line) > 0) {
        const char *resident = strchr(line, ' ');
        if (resident)
            parse_number(resident + 1, strcspn(resident + 1, " \n"), &pages);
    }
    return PAUSE_AT_LEAST + pages * sys_page_size() / 1000 * PAUSE_A_GIGABYTE / 1000000;
}

/* The last look nobody waited for: its child is buried, its memory given back. False: still at
 * work. */
static bool bury(void)
{
    if (last.pid <= 0)
        return true;
    if (!children_reap(last.pid))
        return false;
    bool died = last.result && !load_acquire(&last.result->done);
    drop_taken(&last);
    last.pid = 0;
    if (died)
        say_trouble(last.occasion, LEAK_TROUBLE_DIED);
    return true;
}

enum snapshot_begun snapshot_begin(enum leak_occasion occasion, const struct roots_taker *taker,
                                   uintptr_t about, uint32_t *milestone)
{
    struct taken taken = {.about = about, .occasion = occasion};
    bool periodic = occasion == LEAK_OCCASION_PERIODIC, begun = false;
    if (!turnstile_try(&looking))
        return SNAPSHOT_BUSY;
    if (!bury()) { /* the one before is still at work */
        skipped += periodic;
        turnstile_leave(&looking);
        return SNAPSHOT_BUSY;
    }
    if (periodic && snapshot_predicted_pause() > options_current.pause_budget)
        skipped++;
    else if ((begun = take(occasion, taker, NULL, &taken)))
        last = taken;
    *milestone = begun ? taken.milestone : 0;
    turnstile_leave(&looking);
    return begun ? SNAPSHOT_BEGUN : SNAPSHOT_NONE;
}

void snapshot_choose_roots(void)
{
    const char *list = options_current.roots;
    unsigned chosen;
    if (!roots_read_classes(list, strlen(list), &chosen)) {
        log_bad_value("roots", list,
                      "globals, stacks, registers, tls, user, anon; all are looked at");
        chosen = ~0u;
    }
    classes = chosen; /* in one go: a constructor's thread may be taking a look */
}

void snapshot_start(void)
{
    snapshot_choose_roots();
    roots_start();
}

void snapshot_fork_child(void)
{
    turnstile_reset(&looking);
    held = false;
    park_fork_child();
    children_fork_child();
    drop_taken(&early);
    drop_taken(&last);
    early.pid = 0;
    last.pid = 0;
    places[0] = places[1] = 0; /* of the parent's store */
    skipped = 0;
    no_more = false;
}
