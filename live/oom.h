/* oom.h - did the kernel kill for want of memory?
 *
 * A control group counts those of its processes that the kernel killed because memory ran out. The
 * program is in ours, so a count that has risen while it ran, and an end by SIGKILL, say why it
 * died. A program that goes into another group is one we do not know this of. */
#ifndef LIVE_OOM_H
#define LIVE_OOM_H

#include <stdbool.h>

/* Such kills in our control group so far; -1: nobody counts them. */
long oom_kills(void);

/* Was that the end of a process with this wait status? before: the count when it began. Where two
 * were killed at once, one by the kernel and one by hand, it is said of both. */
bool oom_ended(int wait_status, long before);

#endif
