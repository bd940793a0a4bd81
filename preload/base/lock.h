/* lock.h - the one lock of the runtime: a word and a futex.
 *
 * States of the word: 0 free, 1 held, 2 held and somebody may sleep on it. While the process has
 * one thread (libc says so, as it does to its own malloc) the word is written without locked
 * instructions.
 *
 * While a thread holds a lock no signal handler of the program may run in it: it could wait for a
 * thread that waits for us, or leave by longjmp. Blocking signals costs two system calls (246 ns a
 * pair on a 2-core VM), so nothing is blocked: the thread says that it holds, and a handler that
 * arrives meanwhile is put off until the last lock is given back (signal_trampoline.h).
 */
#ifndef PRELOAD_BASE_LOCK_H
#define PRELOAD_BASE_LOCK_H

#include "preload/base/atomic.h"
#include "preload/base/base.h"

struct lock {
    uint32_t word;
};

/* This thread: how many locks it holds, and what to do when it holds none again. */
struct lock_thread {
    uint32_t held;
    bool put_off; /* a signal waits; all are blocked, and "mask" is what it was */
    uint64_t mask;
};

extern __thread struct lock_thread lock_thread __attribute__((tls_model("initial-exec")));
/* libc's word for "one thread", or a zero where libc has none. */
extern const char *lock_alone HIDDEN;

/* What unlocking needs; lives on the caller's stack. */
struct locked {
    struct lock *lock;
    bool alone;
};

/* Before there are threads. */
void lock_start(void);

/* For fork alone: held across a system call by prepare, given by parent and child. */
void lock_take_raw(struct lock *lock);
void lock_give_raw(struct lock *lock);
/* The two functions that all_locks.c calls of a module with one lock. */
#define LOCK_FOR_FORK(module, lock)                                                                \
    void module##_fork_lock(void)                                                                  \
    {                                                                                              \
        lock_take_raw(lock);                                                                       \
    }                                                                                              \
    void module##_fork_unlock(void)                                                                \
    {                                                                                              \
        lock_give_raw(lock);                                                                       \
    }

/* The signals that were put off may come now. */
void lock_let_signals_in(void);

/* One lock more is held: alone the half of taking one that matters while there is one thread. */
static inline void lock_one_more(void)
{
    lock_thread.held++;
    __asm__ volatile("" ::: "memory"); /* before anything a handler could interrupt */
}

static inline struct locked lock_take(struct lock *lock)
{
    struct locked locked = {.lock = lock, .alone = *lock_alone};
    lock_one_more();
    if (likely(locked.alone))
        store_relaxed(&lock->word, 1);
    else
        lock_take_raw(lock);
    return locked;
}

/* One lock less is held. */
static inline void lock_no_more(void)
{
    __asm__ volatile("" ::: "memory");
    lock_thread.held--;
    __asm__ volatile("" ::: "memory"); /* a signal that came until here may have been put off */
    if (unlikely(lock_thread.put_off) && !lock_thread.held)
        lock_let_signals_in();
}

static inline void lock_give(struct locked *locked)
{
    if (likely(locked->alone))
        store_release(&locked->lock->word, 0); /* pairs with nobody: there is one thread */
    else
        lock_give_raw(locked->lock);
    lock_no_more();
}

/* False at once when somebody holds it. */
static inline bool lock_try(struct lock *lock, struct locked *locked)
{
    uint32_t seen = 0;
    *locked = (struct locked){.lock = lock};
    lock_one_more();
    if (cas_acquire(&lock->word, &seen, 1))
        return true;
    lock_no_more();
    return false;
}

#endif
