#include "preload/leakcheck/fork_snapshot.h"
#include "preload/base/arena.h"
#include "preload/base/base.h"
#include "preload/heap/blocks.h"
#include "preload/heap/suballoc.h"
#include "preload/base/children.h"
#include "preload/track/milestones.h"
#include "preload/signals/stop_the_world.h"
#include "preload/leakcheck/all_locks.h"
#include "preload/base/sys.h"
#include "preload/track/track.h"
#include "preload/leakcheck/dontfork.h"

#define PARK_AT_MOST 3000000000ull /* ns */
#define NEWER_BLOCKS 4096          /* that may come between the count and the copy */

static struct park park; /* handlers read it */

/* ---- Results ------------------------------------------------------------------------------- */

struct look_result *picture_make_result(bool notes, size_t *size)
{
    uint64_t blocks = notes ? blocks_count() + load_relaxed(&carved_count) + NEWER_BLOCKS : 0;
    *size = round_up(sizeof(struct look_result) + blocks * sizeof(struct look_note), LEAK_PAGE);
    struct look_result *result = sys_map_shared(*size);
    if (!result)
        return NULL;
    arena_register(result, *size);
    result->notes_most = blocks < UINT32_MAX ? blocks : UINT32_MAX - 1;
    return result;
}

void picture_drop_result(struct look_result *result, size_t size)
{
    if (!result)
        return;
    arena_unregister(result);
    sys_unmap(result, size);
}

/* ---- Copies -------------------------------------------------------------------------------- */

/* The child's pid; -errno when there can be none. */
static int copy(struct look_order *order)
{
    if (order->is_milestone)
        order->milestone = milestones_add(NULL);
    int pid = sys_fork_silent();
    if (pid == 0) {
        if (!order->stopped)
            quiet_end(); /* held by the parent while the picture was taken */
        unforked_restore();
        look(order);
    }
    if (pid > 0)
        children_add(pid);
    return pid;
}

/* Everybody stands: no lock of ours is held by anybody. */
int picture_take_parked(struct look_order *order)
{
    bool periodic = order->occasion == LEAK_OCCASION_PERIODIC;
    uint64_t most = periodic && options_current.pause_budget < PARK_AT_MOST
                        ? options_current.pause_budget
                        : PARK_AT_MOST;
    order->park = &park;
    order->stopped = true;
    if (!park_all(&park, most))
        return 0;
    unforked_save();
    int pid = copy(order);
    park_release();
    unforked_drop();
    return pid;
}

static int copy_quietly(struct look_order *order)
{
    quiet_begin();
    unforked_save();
    int pid = copy(order);
    quiet_end();
    unforked_drop();
    return pid;
}

enum leak_trouble picture_wait(int pid, struct look_result *result)
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

/* Threads ran on while the picture was taken; nobody may be in the middle of anything of ours. The
 * first of two pictures is waited for: its words are the second one's. */
int picture_take_running(struct look_order *order, enum leak_trouble *trouble)
{
    size_t size;
    struct look_order first = *order;
    first.stopped = false;
    first.silent = true;
    first.is_milestone = false;
    first.result = picture_make_result(true, &size);
    if (!first.result)
        return -1;
    int pid = copy_quietly(&first);
    bool done = false;
    if (pid > 0) {
        *trouble = picture_wait(pid, first.result);
        done = !*trouble;
    }
    order->stopped = false;
    order->before = first.result;
    order->twice = true;
    if (done)
        pid = copy_quietly(order);
    picture_drop_result(first.result, size);
    return done ? pid : -1;
}
