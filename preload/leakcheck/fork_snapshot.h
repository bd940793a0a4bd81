/* fork_snapshot.h - makes a consistent copy of the process: a fork child, which runs the leak check
 * (leak_check.h).
 *
 * If possible, all other threads are stopped while the process is copied. If they cannot be
 * stopped, two copies of the running process are made one after the other, and a block is lost only
 * if both checks find it lost.
 *
 * The caller blocks all signals. Otherwise a handler of the program could run that waits for a lock
 * of a stopped thread. */
#ifndef PRELOAD_LEAKCHECK_FORK_SNAPSHOT_H
#define PRELOAD_LEAKCHECK_FORK_SNAPSHOT_H

#include "preload/leakcheck/leak_check.h"

/* Allocates the memory in which the child returns its result, with room for a note (the verdict)
 * about every block if "notes" is true. *size: the size of this memory. NULL: there is no
 * memory. */
struct leak_check_result *fork_snapshot_alloc_result(bool notes, size_t *size);
void fork_snapshot_free_result(struct leak_check_result *result, size_t size);

/* Copies the process after stopping all other threads. Returns the child's pid; -errno: fork
 * failed; 0: a thread could not be stopped. With LEAK_OCCASION_FATAL the other threads stay
 * stopped, as if the fatal signal had already ended them. */
int fork_snapshot_take_stopped(struct leak_check_request *request);
/* Resumes the other threads, if fork_snapshot_take_stopped has left them stopped. */
void fork_snapshot_resume(void);
/* Copies the process twice without stopping threads. Returns the pid of the second child. Below 0:
 * a fork or the check of the first copy has failed; if it was that check, *trouble says why. */
int fork_snapshot_take_running(struct leak_check_request *request, enum leak_trouble *trouble);

/* Waits for the child's result. LEAK_TROUBLE_NONE: it is there; otherwise the reason why there is
 * none. */
enum leak_trouble fork_snapshot_wait(int pid, struct leak_check_result *result);

/* ---- All locks --------------------------------------------------------------------------------
 * Acquires every lock of the runtime, so that no other thread is inside a critical section when the
 * process forks. The child has only the calling thread, so a lock that another thread held would
 * stay taken there for ever. The order is that of lifecycle.def, the first row first. The caller
 * blocks all signals. */
void all_locks_acquire(void);
void all_locks_release(void);

/* ---- Memory that a child does not inherit -----------------------------------------------------
 * Fork does not copy memory that the program has advised with MADV_DONTFORK or MADV_WIPEONFORK:
 * buffers that devices write to, or V8's whole heap. Such memory may hold the only pointer to a
 * block, so its touched pages are saved and put back in the child at the same addresses. If they
 * are more than DONTFORK_MAX bytes, no leak check is possible. */
#define DONTFORK_MAX (1ull << 30)

/* Records advice that the program has given about its memory with madvise. */
void dontfork_note_advice(uintptr_t start, size_t size, int advice);

#endif
