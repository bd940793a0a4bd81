/* children.h - the runtime's own children, which the program does not know: those of leak checks,
 * and the one that runs leakreport. And leakreport: where it is, and running it.
 *
 * These children send no signal when they end, and must be waited for by pid. A short list of their
 * pids lets the hooks of wait() recognise them.
 */
#ifndef PRELOAD_BASE_CHILDREN_H
#define PRELOAD_BASE_CHILDREN_H

#include "preload/base/base.h"

void children_add(int pid);
bool children_contain(int pid);
bool children_any(void);

enum children_end { CHILDREN_DONE, CHILDREN_DIED, CHILDREN_TIMED_OUT };

/* Waits until the child sets *done, for at most that many nanoseconds; then the child is killed. In
 * any case it is removed from the list. */
enum children_end children_wait(int pid, uint32_t *done, uint64_t most);
/* Removes a child that has ended, without waiting. False: it still runs. */
bool children_reap(int pid);

/* A fork child has none of its parent's children. */
void children_fork_child(void);

/* ---- leakreport ----------------------------------------------------------------------------- */

#ifdef LEAK_BINDIR
#define LEAKREPORT_BINDIR LEAK_BINDIR
#else
#define LEAKREPORT_BINDIR "/usr/local/bin"
#endif

/* Finds leakreport once, at the start: later, as in a fork child, a thread that never runs again may
 * hold the loader's lock. library: the path from which libleak.so was loaded; the string must stay
 * valid. */
void leakreport_set_library(const char *library);
/* The path of leakreport: beside the library (a build tree), else where it is installed; NULL: not
 * found. Not for two threads at once. */
const char *leakreport_find(void);
struct sys_streams;
/* Runs it to its end, hidden from the program. Its wait status, or -errno. */
int leakreport_run(const char *path, char *const argv[], char *const envp[],
                   const struct sys_streams *streams);

#endif
