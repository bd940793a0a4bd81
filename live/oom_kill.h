/* oom_kill.h - what the control group of leakwatch says: whether the kernel killed a process because
 * memory ran out.
 *
 * A control group counts the processes that the kernel killed in it for that reason. The program
 * runs in the group of leakwatch, so a count that rose while it ran, and an end by SIGKILL, say why
 * it ended. Of a program that moves to another group this is unknown. */
#ifndef LIVE_OOM_KILL_H
#define LIVE_OOM_KILL_H

#include <stdbool.h>

/* Kills because of memory in the control group so far; -1: there is no such count. */
long oom_kill_count(void);

/* Whether a process with this wait status was killed because memory ran out. before: the count when
 * it started. Where the kernel killed one process and a user another at the same time, the answer
 * is yes for both. */
bool oom_kill_ended(int wait_status, long before);

#endif
