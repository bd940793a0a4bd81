/* process.h - who a pid is: a pid is reused, a pid with its start time is not.
 *
 * Everything comes from /proc; where /proc does not answer a process counts as gone. */
#ifndef LIVE_PROCESS_H
#define LIVE_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Field 22 of /proc/PID/stat and the state letter; S, not Z, where the main thread alone has ended. False: no
 * such process (any more). */
bool process_look(pid_t pid, uint64_t *start_time, char *state);

/* Lives, and is the one that started then. A zombie does not live. */
bool process_lives(pid_t pid, uint64_t start_time);

/* Living processes of ours whose environment (as it was at their exec) holds the text, leakwatch
 * itself left out: so a child is found that has not come as far as opening a store. Returns how
 * many; *pids is for the caller to free. */
size_t process_find(const char *text, pid_t **pids);

/* Identity of our pid namespace, so that two containers sharing /dev/shm never judge each
 * other's pids. 0: unknown. */
uint64_t process_namespace(void);

#endif
