/* children.h - the list of the runtime's own child processes, which the program must not notice:
 * the copies of the process that make leak checks, and the process that runs leakreport. Also finds
 * and runs leakreport.
 *
 * These children send no signal when they end, and a wait that does not name their pid does not
 * find them. The hooks of wait() and waitpid() look their pids up in the list.
 */
#ifndef PRELOAD_BASE_CHILDREN_H
#define PRELOAD_BASE_CHILDREN_H

#include "preload/base/base.h"

void children_add(int pid);
bool children_contain(int pid);
bool children_any(void);
/* Says whether a child that a wait() of the program has just reaped is one of the runtime's, and
 * removes it from the list. Recognises it also if the thread that watches the child has removed it
 * meanwhile, which children_contain does not. */
bool children_take(int pid);
/* Returns the number of changes of the list. If two calls return the same number, no child was
 * added or removed between them. */
uint32_t children_changes(void);

enum children_end { CHILDREN_DONE, CHILDREN_DIED, CHILDREN_TIMED_OUT };

/* Waits until the child sets *done or dies. After "most" nanoseconds the child is killed. Always
 * removes the child from the list. */
enum children_end children_wait(int pid, uint32_t *done, uint64_t most);
/* Removes a child from the list if it has ended, without waiting. False: the child still runs. */
bool children_reap(int pid);

/* Empties the list in a fork child, because the listed processes are children of its parent. */
void children_fork_child(void);

/* ---- Finding and running leakreport ---------------------------------------------------------- */

#ifdef LEAK_BINDIR
#define LEAKREPORT_BINDIR LEAK_BINDIR
#else
#define LEAKREPORT_BINDIR "/usr/local/bin"
#endif

/* Remembers the path from which libleak.so was loaded, for leakreport_find. Call it at the start:
 * in a fork child the loader, which knows the path, may be locked for ever. The string "library"
 * must stay valid. */
void leakreport_set_library(const char *library);
/* Returns the path of leakreport: beside the library, as in a build tree, else where it is
 * installed. NULL: it is in neither place. Two threads must not call it at the same time. */
const char *leakreport_find(void);
struct sys_streams;
/* Runs leakreport and waits for its end. The program does not see this child. Returns the wait
 * status, or -errno. */
int leakreport_run(const char *path, char *const argv[], char *const envp[],
                   const struct sys_streams *streams);

#endif
