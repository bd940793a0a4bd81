/* process.h - which processes a session still has, and whose pids are whose: all from /proc. */
#ifndef LIVE_PROCESS_H
#define LIVE_PROCESS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Living processes of ours whose environment (as it was at their exec) holds the text, leakwatch
 * itself left out: so a child is found that has not come as far as opening a store. Returns how
 * many; *pids is for the caller to free. */
size_t process_find(const char *text, pid_t **pids);

/* Identity of our pid namespace, so that two containers sharing /dev/shm never judge each
 * other's pids. 0: unknown. */
uint64_t process_namespace(void);

#endif
