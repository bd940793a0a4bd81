/* fork_snapshot.c - copies the process by fork, and waits for the result of the leak check in the
 * copy. */
#include "preload/leakcheck/fork_snapshot.h"
#include "preload/leakcheck/stack_scrub.h"
#include "preload/memory/arena.h"
#include "preload/base/base.h"
#include "preload/blocks/blocks.h"
#include "preload/heap/suballoc.h"
#include "preload/base/children.h"
#include "preload/track/milestones.h"
#include "preload/signals/stop_the_world.h"
#include "preload/base/sys.h"
#include "preload/track/track.h"
#include "preload/base/lock.h"
#include "preload/elf/procmaps.h"
#include "leak_store.h"

#include <sys/mman.h>

/* Nanoseconds after which the attempt to stop all threads is given up. */
#define STOP_TIMEOUT 3000000000ull
/* Number of notes (each about one block) for which the result has room in addition to one for each
 * block: further blocks may be allocated between counting the blocks and copying the process. */
#define NEWER_BLOCKS 4096

static struct world world; /* static, because the signal handlers of stopped threads read it */
static bool stays_stopped; /* the other threads stay stopped until fork_snapshot_resume */

/* ---- The result of a check, in memory that parent and child share ---------------------------- */

struct leak_check_result *fork_snapshot_alloc_result(bool notes, size_t *size)
{
    uint64_t blocks = notes ? blocks_count() + load_relaxed(&suballoc_count) + NEWER_BLOCKS : 0;
    blocks = blocks < UINT32_MAX ? blocks : UINT32_MAX - 1;
    *size = round_up(leak_check_result_size(blocks), LEAK_PAGE);
    struct leak_check_result *result = sys_map_shared(*size);
    if (!result)
        return NULL;
    arena_register(result, *size);
    result->notes_most = blocks;
    return result;
}

void fork_snapshot_free_result(struct leak_check_result *result, size_t size)
{
    if (!result)
        return;
    arena_unregister(result);
    sys_unmap(result, size);
}

/* ---- Memory that a child does not inherit ---------------------------------------------------- */

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#define MADV_KEEPONFORK 19
#endif

#define RANGES_MOST 16384

static struct lock dontfork_lock; /* guards ranges and range_count */
static struct dontfork_range {
    uintptr_t start, end;
} ranges[RANGES_MOST];
static uint32_t range_count;
static bool too_many_ranges;

enum page_state {
    PAGE_UNTOUCHED,
    PAGE_SAVED,
    PAGE_LEFT /* the page is saved but not put back: libleak's own, or without access */
};

/* The saved pages of the ranges that fork does not copy, in the order of "ranges". */
static struct {
    uint8_t *state; /* a value of enum page_state for each page of all ranges */
    char *pages;    /* copies of the pages that the program has touched */
    size_t states, size;
    bool incomplete;
} saved;

static size_t pages_of(const struct dontfork_range *range)
{
    return (range->end - range->start) / LEAK_PAGE;
}

static void append_range(struct dontfork_range range)
{
    if (range_count < RANGES_MOST)
        ranges[range_count++] = range;
    else
        too_many_ranges = true;
}

/* Removes [start, end) from the list of ranges that fork does not copy, because the program has
 * given new advice (madvise) about it. */
static void remove_overlap(uintptr_t start, uintptr_t end)
{
    for (uint32_t i = range_count; i--;) {
        struct dontfork_range *range = &ranges[i], rest = {end, range->end};
        if (range->start >= end || range->end <= start)
            continue;
        if (range->start < start) {
            range->end = start;
            if (rest.start < rest.end)
                append_range(rest);
        } else if (rest.start < rest.end) {
            *range = rest;
        } else {
            *range = ranges[--range_count];
        }
    }
}

/* Adds a range that fork does not copy, and joins it with an adjacent one: V8's heap of many equal
 * parts becomes few ranges. */
static void add_range(uintptr_t start, uintptr_t end)
{
    for (uint32_t i = 0; i < range_count; i++) {
        struct dontfork_range *range = &ranges[i];
        if (range->end == start || range->start == end) {
            range->start = range->start < start ? range->start : start;
            range->end = range->end > end ? range->end : end;
            return;
        }
    }
    append_range((struct dontfork_range){start, end});
}

void dontfork_note_advice(uintptr_t start, size_t size, int advice)
{
    bool kept = advice == MADV_DONTFORK || advice == MADV_WIPEONFORK;
    if (!kept && advice != MADV_DOFORK && advice != MADV_KEEPONFORK)
        return;
    struct locked locked = lock_take(&dontfork_lock);
    uintptr_t end = start + round_up(size, sys_page_size());
    remove_overlap(start, end);
    if (kept)
        add_range(start, end);
    lock_give(&locked);
}

/* Finds out by the kernel's pagemap which pages of the range the program has touched (others are
 * zeros), and returns how many. */
static size_t note_touched(int pagemap, const struct dontfork_range *range, uint8_t *state)
{
    uint64_t entry[512];
    size_t touched = 0;
    for (uintptr_t page = range->start; page < range->end;) {
        size_t pages = pagemap_read(pagemap, page, range->end, entry, ARRAY_LENGTH(entry));
        for (size_t i = 0; i < pages; i++, page += LEAK_PAGE)
            touched += *state++ = pagemap_is_touched(entry[i]) ? PAGE_SAVED : PAGE_UNTOUCHED;
    }
    return touched;
}

static size_t run_of(const uint8_t *state, const uint8_t *end)
{
    const uint8_t *at = state;
    while (at < end && *at == *state)
        at++;
    return at - state;
}

/* Calls visit for each sequence of consecutive pages in the wanted state. state: the states of
 * these pages; to: where their content is saved. */
static void each_run(enum page_state wanted,
                     void (*visit)(uintptr_t page, size_t pages, uint8_t *state, char *to))
{
    uint8_t *state = saved.state;
    char *to = saved.pages;
    for (uint32_t i = 0; i < range_count; i++) {
        uint8_t *end = state + pages_of(&ranges[i]);
        for (uintptr_t page = ranges[i].start; state < end;) {
            size_t pages = run_of(state, end);
            enum page_state now = *state;
            if (now == wanted)
                visit(page, pages, state, to);
            state += pages;
            page += pages * LEAK_PAGE;
            to += now == PAGE_UNTOUCHED ? 0 : pages * LEAK_PAGE;
        }
    }
}

static void save_run(uintptr_t page, size_t pages, uint8_t *state, char *to)
{
    if (sys_peek(page, to, pages * LEAK_PAGE))
        return;
    for (size_t i = 0; i < pages; i++)
        if (!sys_peek(page + i * LEAK_PAGE, to + i * LEAK_PAGE, LEAK_PAGE))
            state[i] = PAGE_LEFT;
}

/* Marks libleak's own pages, so that they are not put back. */
static void skip_own_memory(uintptr_t start, size_t size, void *context UNUSED)
{
    size_t at = 0;
    for (uint32_t i = 0; i < range_count; i++) {
        uintptr_t from = ranges[i].start > start ? ranges[i].start : start & ~(LEAK_PAGE - 1);
        for (uintptr_t page = from; page < ranges[i].end && page < start + size;
             page += LEAK_PAGE) {
            uint8_t *state = &saved.state[at + (page - ranges[i].start) / LEAK_PAGE];
            *state = *state == PAGE_SAVED ? PAGE_LEFT : *state;
        }
        at += pages_of(&ranges[i]);
    }
}

/* Finds out which pages of all ranges the program has touched, and returns how many. */
static size_t note_all_touched(bool stopped)
{
    size_t touched = 0, at = 0;
    /* pagemap is opened only while the other threads are stopped, because a running thread might
     * notice the descriptor. */
    int pagemap = stopped ? pagemap_open() : -1;
    for (uint32_t i = 0; i < range_count; i++) {
        touched += note_touched(pagemap, &ranges[i], saved.state + at);
        at += pages_of(&ranges[i]);
    }
    if (pagemap >= 0)
        sys_close(pagemap);
    return touched;
}

/* Frees the saved pages; called in the parent after the fork. */
static void dontfork_drop(void)
{
    if (saved.state)
        sys_unmap(saved.state, saved.states);
    if (saved.pages)
        sys_unmap(saved.pages, saved.size);
    saved.state = NULL;
    saved.pages = NULL;
}

/* Saves the touched pages of all ranges. False: there is no memory, or the pages have more than
 * DONTFORK_MAX bytes. */
static bool save_pages(bool stopped)
{
    saved.state = sys_map(saved.states);
    if (!saved.state)
        return false;
    saved.size = note_all_touched(stopped) * LEAK_PAGE;
    if (!saved.size)
        return true;
    saved.pages = saved.size <= DONTFORK_MAX ? sys_map(saved.size) : NULL;
    if (!saved.pages)
        return false;
    each_run(PAGE_SAVED, save_run);
    arena_each_range(skip_own_memory, NULL);
    return true;
}

/* Saves the pages that fork will not copy; called before the fork. stopped: all other threads are
 * stopped. */
static void dontfork_save(bool stopped)
{
    size_t pages = 0;
    for (uint32_t i = 0; i < range_count; i++)
        pages += pages_of(&ranges[i]);
    saved.states = round_up(pages, LEAK_PAGE);
    saved.incomplete = too_many_ranges || (pages && !save_pages(stopped));
}

static void restore_run(uintptr_t page, size_t pages, uint8_t *state UNUSED, char *to)
{
    if (sys_map_zeros((void *)page, pages * LEAK_PAGE))
        memcpy((void *)page, to, pages * LEAK_PAGE);
}

/* Puts the saved pages back at their addresses; called in the child before anything else is mapped.
 * Skips pages that the program has unmapped since, and libleak's memory. False: some pages were not
 * saved. */
static bool dontfork_restore(void)
{
    if (saved.pages) {
        each_run(PAGE_SAVED, restore_run);
        /* Registers the saved pages as libleak's; else the leak check would scan the pages
         * twice. */
        arena_register(saved.pages, saved.size);
    }
    if (saved.state)
        arena_register(saved.state, saved.states);
    return !saved.incomplete;
}

LOCK_FOR_FORK(dontfork, &dontfork_lock)

/* ---- Copying the process --------------------------------------------------------------------- */

/* Forks the child that runs the leak check. Returns its pid; -errno: fork failed. */
static int fork_checker(struct leak_check_request *request)
{
    if (request->is_milestone)
        request->milestone = milestones_add(NULL);
    /* Removes addresses of blocks that the counting of blocks has left on the stack. */
    stack_scrub_near();
    int pid = sys_fork_silent();
    if (pid == 0) {
        if (!request->stopped)
            /* The child inherits all locks as taken, because the parent held them while it
             * forked. */
            all_locks_release();
        request->memory_left_out = !dontfork_restore();
        /* The handler of SIGTRAP that follows blocks (slot_watch.h) has run on this stack. */
        if (request->followed)
            stack_scrub_idle_signal_stack();
        leak_check_run(request);
    }
    if (pid > 0)
        children_add(pid);
    return pid;
}

/* Copies the process while all other threads are stopped, at points where they hold no lock of the
 * runtime. */
int fork_snapshot_take_stopped(struct leak_check_request *request)
{
    bool periodic = request->occasion == LEAK_OCCASION_PERIODIC;
    uint64_t most = periodic && options_current.pause_budget < STOP_TIMEOUT
                        ? options_current.pause_budget
                        : STOP_TIMEOUT;
    request->world = &world;
    request->stopped = true;
    if (!world_stop(&world, most))
        return 0;
    dontfork_save(true);
    int pid = fork_checker(request);
    stays_stopped = request->occasion == LEAK_OCCASION_FATAL;
    if (!stays_stopped)
        world_resume();
    dontfork_drop();
    return pid;
}

void fork_snapshot_resume(void)
{
    if (stays_stopped)
        world_resume();
    stays_stopped = false;
}

static int fork_checker_locked(struct leak_check_request *request)
{
    all_locks_acquire();
    dontfork_save(false);
    int pid = fork_checker(request);
    all_locks_release();
    dontfork_drop();
    return pid;
}

enum leak_trouble fork_snapshot_wait(int pid, struct leak_check_result *result)
{
    switch (children_wait(pid, &result->done, options_current.exit_budget)) {
    case CHILDREN_DIED:
        return LEAK_TROUBLE_DIED;
    case CHILDREN_TIMED_OUT:
        return LEAK_TROUBLE_NO_TIME;
    default:
        return result->trouble;
    }
}

/* Copies the process twice while the other threads run, with all locks of the runtime held, so that
 * the other threads are outside critical sections. Waits for the leak check of the first copy,
 * because the check of the second copy needs its verdicts (the notes). */
int fork_snapshot_take_running(struct leak_check_request *request, enum leak_trouble *trouble)
{
    size_t size;
    struct leak_check_request first = *request;
    first.stopped = false;
    first.silent = true;
    first.is_milestone = false;
    first.result = fork_snapshot_alloc_result(true, &size);
    if (!first.result)
        return -1;
    int pid = fork_checker_locked(&first);
    bool done = false;
    if (pid > 0) {
        *trouble = fork_snapshot_wait(pid, first.result);
        done = !*trouble;
    }
    request->stopped = false;
    request->before = first.result;
    request->twice = true;
    if (done)
        pid = fork_checker_locked(request);
    fork_snapshot_free_result(first.result, size);
    return done ? pid : -1;
}
