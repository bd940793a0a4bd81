/* fork_snapshot.h - a consistent copy of the process in a child, which runs the leak check
 * (leak_check.h).
 *
 * Preferably all other threads are stopped while the process is copied. If they cannot be stopped,
 * two copies of the running process are made one after the other, and only what both find counts.
 *
 * The caller has blocked all signals: a handler of the program could otherwise run while stopped
 * threads hold what it needs.
 */
#ifndef PRELOAD_LEAKCHECK_FORK_SNAPSHOT_H
#define PRELOAD_LEAKCHECK_FORK_SNAPSHOT_H

#include "preload/leakcheck/leak_check.h"

/* Allocates the memory in which the child returns its result, with a note for every block if
 * wanted. NULL: no memory. */
struct leak_check_result *fork_snapshot_alloc_result(bool notes, size_t *size);
void fork_snapshot_free_result(struct leak_check_result *result, size_t size);

/* The child's pid; -errno: fork failed; 0: a thread could not be stopped. With LEAK_OCCASION_FATAL
 * the other threads stay stopped: as far as they can see, the signal has killed them. */
int fork_snapshot_take_stopped(struct leak_check_request *request);
/* Lets them run again, if they are stopped. */
void fork_snapshot_resume(void);
/* The child's pid, or a value below 0 and possibly the trouble of the first copy. */
int fork_snapshot_take_running(struct leak_check_request *request, enum leak_trouble *trouble);

/* Waits for the child's result; returns why there is none, or the child's own trouble. */
enum leak_trouble fork_snapshot_wait(int pid, struct leak_check_result *result);

/* ---- All locks --------------------------------------------------------------------------------
 * Acquires every lock of the runtime, so that no thread is inside a critical section. For a copy of
 * the process, by fork or for a snapshot: the copy has only the calling thread, and a lock that
 * another thread held would stay locked there forever. The order is that of LAYERS, top first.
 * Signals are blocked by the caller. */
void all_locks_acquire(void);
void all_locks_release(void);

/* ---- Memory that a child does not inherit -----------------------------------------------------
 * madvise(MADV_DONTFORK) and MADV_WIPEONFORK: programs use them for buffers that devices write to,
 * and these may hold the only pointer to a block. V8 does so with its whole heap. So the child gets a
 * copy of their touched pages at the same addresses. Where these are more than DONTFORK_MAX bytes no
 * leak check is possible. */
#define DONTFORK_MAX (1ull << 30)

/* Call when the program has given advice about its memory. */
void dontfork_note_advice(uintptr_t start, size_t size, int advice);

#endif
