/* procfs.h - what the control group of leakwatch says: whether the kernel killed a process because
 * memory ran out.
 *
 * A control group counts the processes that the kernel killed in it for that reason. The program
 * runs in the group of leakwatch, so a count that rose while it ran, and an end by SIGKILL, say why
 * it ended. Of a program that moves to another group this is unknown. */
#ifndef LIVE_PROCFS_H
#define LIVE_PROCFS_H

#include <stdbool.h>

/* Kills because of memory in the control group so far; -1: there is no such count. */
long procfs_oom_kills(void);

/* Whether a process with this wait status was killed because memory ran out. before: the count when
 * it started. Where the kernel killed one process and a user another at the same time, the answer
 * is yes for both. */
bool killed_by_oom(int wait_status, long before);

#endif
