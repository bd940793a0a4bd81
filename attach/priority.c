/* priority.c - sets nice values and time slices. */
#include "attach/priority.h"

#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SHORT_SLICE 100000 /* nanoseconds; the shortest that the kernel takes */

/* The time slice of threads for which none is set; 0: not known yet. */
static uint64_t usual_slice;

static bool get(pid_t tid, struct priority *priority)
{
    return syscall(SYS_sched_getattr, tid, priority, sizeof(*priority), 0) == 0 &&
           (priority->policy == SCHED_OTHER || priority->policy == SCHED_BATCH);
}

static bool set(pid_t tid, struct priority priority)
{
    return syscall(SYS_sched_setattr, tid, &priority, 0) == 0;
}

bool priority_raise(pid_t tid, struct priority *earlier)
{
    struct priority raised, own;

    if (!get(tid, earlier))
        return false;
    if (!usual_slice)
        usual_slice = get(0, &own) ? own.slice : 0;
    raised = *earlier;
    raised.slice = SHORT_SLICE;
    raised.nice = PRIO_MIN;
    if (set(tid, raised))
        return true;
    raised.nice = earlier->nice;
    return set(tid, raised);
}

void priority_restore(pid_t tid, const struct priority *earlier)
{
    struct priority before = *earlier;

    if (before.slice == usual_slice)
        before.slice = 0; /* 0 = the kernel's usual slice, also if the kernel changes that later */
    set(tid, before);
}

void priority_raise_own(void)
{
    struct priority earlier;

    priority_raise(0, &earlier);
    prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
}
