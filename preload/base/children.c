#include "preload/base/children.h"
#include "preload/base/atomic.h"
#include "preload/base/sys.h"

#include <signal.h>
#include <time.h>

#define CHILDREN 8     /* that may be there at once */
#define POLL 20000000u /* ns between two questions whether the child is still there */

static int children[CHILDREN]; /* 0 = none */

static void change(int from, int to)
{
    for (unsigned i = 0; i < CHILDREN; i++) {
        int there = from;
        if (cas_acquire(&children[i], &there, to))
            return;
    }
}

void children_add(int pid)
{
    change(0, pid);
}

void children_remove(int pid)
{
    change(pid, 0);
}

bool children_have(int pid)
{
    for (unsigned i = 0; i < CHILDREN; i++)
        if (pid > 0 && load_relaxed(&children[i]) == pid)
            return true;
    return false;
}

bool children_any(void)
{
    for (unsigned i = 0; i < CHILDREN; i++)
        if (load_relaxed(&children[i]))
            return true;
    return false;
}

static enum children_end wait_until(int pid, uint32_t *done, uint64_t most)
{
    uint64_t begun = sys_clock_ns(CLOCK_MONOTONIC);
    while (!load_acquire(done)) { /* pairs with the child */
        if (sys_has_ended(pid))
            return load_acquire(done) ? CHILDREN_DONE : CHILDREN_DIED;
        if (sys_clock_ns(CLOCK_MONOTONIC) - begun > most) {
            sys_kill(pid, SIGKILL);
            sys_wait(pid);
            return CHILDREN_LATE;
        }
        sys_futex_wait_shared_for(done, 0, POLL);
    }
    sys_wait(pid);
    return CHILDREN_DONE;
}

enum children_end children_wait(int pid, uint32_t *done, uint64_t most)
{
    enum children_end end = wait_until(pid, done, most);
    change(pid, 0);
    return end;
}

bool children_bury(int pid)
{
    if (!sys_has_ended(pid))
        return false;
    change(pid, 0);
    return true;
}

void children_fork_child(void)
{
    memset(children, 0, sizeof children);
}
