/* oom_kill.h - finds out from the control group of leakwatch whether the kernel killed a process
 * because memory ran out.
 *
 * A control group counts the processes in it that the kernel killed because memory ran out. The
 * program runs in the group of leakwatch. So if the count rose while the program ran, and SIGKILL
 * ended it, this was the reason. For a program that moves to another group the reason is unknown.
 * */
#ifndef LIVE_OOM_KILL_H
#define LIVE_OOM_KILL_H

#include <stdbool.h>

/* Returns the number of processes that the kernel has killed in the control group because memory
 * ran out; -1: there is no such count. */
long oom_kill_count(void);

/* Says whether a process with this wait status was killed because memory ran out. before: the count
 * when the process started. If the kernel killed one process and a user another at the same time,
 * the answer is true for both. */
bool oom_kill_ended(int wait_status, long before);

#endif
