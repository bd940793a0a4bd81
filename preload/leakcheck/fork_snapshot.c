/* fork_snapshot.c - copies the process and waits for the result of the copy. */
#include "preload/leakcheck/fork_snapshot.h"
#include "preload/base/arena.h"
#include "preload/base/base.h"
#include "preload/blocks/blocks.h"
#include "preload/heap/suballoc.h"
#include "preload/base/children.h"
#include "preload/track/milestones.h"
#include "preload/signals/stop_the_world.h"
#include "preload/base/sys.h"
#include "preload/track/track.h"
#include "preload/base/lock.h"
#include "leak_store.h"

#include <sys/mman.h>

#define STOP_TIMEOUT 3000000000ull /* ns */
#define NEWER_BLOCKS 4096          /* that may appear between the count and the copy */

static struct world world; /* signal handlers read it */
static bool stays_stopped; /* until fork_snapshot_resume */

/* ---- Results ------------------------------------------------------------------------------- */

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

/* ---- Copies -------------------------------------------------------------------------------- */

/* The child's pid; -errno: fork failed. */
static int fork_checker(struct leak_check_request *request)
{
    if (request->is_milestone)
        request->milestone = milestones_add(NULL);
    int pid = sys_fork_silent();
    if (pid == 0) {
        if (!request->stopped)
            all_locks_release(); /* the parent holds them while it forks */
        dontfork_restore();
        leak_check_run(request);
    }
    if (pid > 0)
        children_add(pid);
    return pid;
}

/* All other threads are stopped, and none of them holds a lock of the runtime. */
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
    dontfork_save();
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
    dontfork_save();
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

/* The other threads run on, but outside the runtime's critical sections. Waits for the first copy:
 * the second one needs its notes. */
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

/* ---- Memory that a child does not inherit ---------------------------------------------------- */

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#define MADV_KEEPONFORK 19
#endif

#define RANGES_MOST 512

static struct lock dontfork_lock; /* guards ranges and range_count */
static struct dontfork_range {
    uintptr_t start, end;
} ranges[RANGES_MOST];
static uint32_t range_count;

/* Page by page, in the order of the ranges: first all flags, then all pages. */
static struct {
    uint8_t *there; /* the page was read and belongs to the program */
    char *pages;
    size_t size;
} saved_pages;

/* Removes the part of the range from the list: its advice has changed. */
static void remove_overlap(uintptr_t start, uintptr_t end)
{
    for (uint32_t i = range_count; i--;) {
        struct dontfork_range *range = &ranges[i], rest = {end, range->end};
        if (range->start >= end || range->end <= start)
            continue;
        if (range->start < start) {
            range->end = start;
            if (rest.start < rest.end && range_count < RANGES_MOST)
                ranges[range_count++] = rest;
        } else if (rest.start < rest.end) {
            *range = rest;
        } else {
            *range = ranges[--range_count];
        }
    }
}

void dontfork_note_advice(uintptr_t start, size_t size, int advice)
{
    bool kept = advice == MADV_DONTFORK || advice == MADV_WIPEONFORK;
    if (!kept && advice != MADV_DOFORK && advice != MADV_KEEPONFORK)
        return;
    struct locked locked = lock_take(&dontfork_lock);
    uintptr_t end = start + round_up(size, sys_page_size());
    remove_overlap(start, end);
    if (kept && range_count < RANGES_MOST)
        ranges[range_count++] = (struct dontfork_range){start, end};
    lock_give(&locked);
}

/* Clears the flags of libleak's own pages. */
static void skip_own_memory(uintptr_t start, size_t size, void *context UNUSED)
{
    size_t at = 0;
    for (uint32_t i = 0; i < range_count; i++)
        for (uintptr_t page = ranges[i].start; page < ranges[i].end; page += LEAK_PAGE, at++)
            if (page < start + size && start < page + LEAK_PAGE)
                saved_pages.there[at] = 0;
}

void dontfork_save(void)
{
    size_t pages = 0, at = 0;
    for (uint32_t i = 0; i < range_count; i++)
        pages += (ranges[i].end - ranges[i].start) / LEAK_PAGE;
    if (!pages || pages * LEAK_PAGE > DONTFORK_MAX)
        return;
    size_t flags = round_up(pages, LEAK_PAGE);
    saved_pages.size = flags + pages * LEAK_PAGE;
    saved_pages.there = sys_map(saved_pages.size);
    if (!saved_pages.there)
        return;
    saved_pages.pages = (char *)saved_pages.there + flags;
    for (uint32_t i = 0; i < range_count; i++)
        for (uintptr_t page = ranges[i].start; page < ranges[i].end; page += LEAK_PAGE, at++)
            saved_pages.there[at] = sys_peek(page, saved_pages.pages + at * LEAK_PAGE, LEAK_PAGE);
    arena_each_range(skip_own_memory, NULL);
}

void dontfork_drop(void)
{
    if (saved_pages.there)
        sys_unmap(saved_pages.there, saved_pages.size);
    saved_pages.there = NULL;
}

void dontfork_restore(void)
{
    size_t at = 0;
    for (uint32_t i = 0; saved_pages.there && i < range_count; i++)
        for (uintptr_t page = ranges[i].start; page < ranges[i].end; page += LEAK_PAGE, at++)
            if (saved_pages.there[at] && sys_map_zeros((void *)page, LEAK_PAGE))
                memcpy((void *)page, saved_pages.pages + at * LEAK_PAGE, LEAK_PAGE);
    if (saved_pages.there) /* as libleak's: else the leak check would scan the pages twice */
        arena_register(saved_pages.there, saved_pages.size);
}

LOCK_FOR_FORK(dontfork, &dontfork_lock)
