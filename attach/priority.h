/* priority.h - lets a thread run before the others of a busy machine for a moment.
 *
 * A raised thread has the highest nice value, which only root may set, and a short time slice: since
 * Linux 6.12 a thread that wakes up interrupts one that has a longer slice. */
#ifndef ATTACH_PRIORITY_H
#define ATTACH_PRIORITY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* How the kernel schedules a thread, in the form of the system call sched_getattr. */
struct priority {
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t fixed;
    uint64_t slice, others[2]; /* slice: in nanoseconds */
};

/* Raises the calling thread for ever, and makes its sleeps exact. */
void priority_raise_own(void);

/* Raises a thread, and stores in *earlier how it was scheduled before. False: the kernel forbids
 * that, or the thread has a policy for real time, which is higher anyway. */
bool priority_raise(pid_t tid, struct priority *earlier);
void priority_restore(pid_t tid, const struct priority *earlier);

#endif
