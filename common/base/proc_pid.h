/* proc_pid.h - who a pid is: a pid is reused, a pid with its start time is not.
 *
 * Where /proc does not answer a process counts as gone. */
#ifndef COMMON_BASE_PROC_PID_H
#define COMMON_BASE_PROC_PID_H

#include <stdbool.h>
#include <stdint.h>

/* Field 22 of /proc/PID/stat and the state letter; S, not Z, where the main thread alone has ended.
 * False: no such process (any more). */
bool pid_look(int32_t pid, uint64_t *start_time, char *state);

/* Lives, and is the one that started then. A zombie does not live. */
bool pid_lives(int32_t pid, uint64_t start_time);

#endif
