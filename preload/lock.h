/* lock.h - the one lock of the runtime: a word and a futex.
 *
 * States of the word: 0 free, 1 held, 2 held and somebody may sleep on it.
 * While a lock is held no signal handler of the program may run in this thread: it could wait for a
 * thread that waits for us, or leave by longjmp. Blocking costs two system calls (246 ns a pair on
 * a 2-core VM), so it is done only from the moment the program installs a first handler;
 * hook_signal tells us. Handlers that predate the runtime do not exist: exec resets them.
 */
#ifndef PRELOAD_LOCK_H
#define PRELOAD_LOCK_H

#include "preload/base.h"

struct lock {
    uint32_t word;
};

/* What unlocking needs; lives on the caller's stack. */
struct locked {
    struct lock *lock;
    uint64_t mask;
    bool masked;
};

struct locked lock_take(struct lock *lock);
/* False at once when somebody holds it. */
bool lock_try(struct lock *lock, struct locked *locked);
void lock_give(struct locked *locked);

/* For fork alone: held across a system call by prepare, given by parent and child. */
void lock_take_raw(struct lock *lock);
void lock_give_raw(struct lock *lock);

/* From now on the program has a signal handler. */
void lock_expect_handlers(void);

#endif
