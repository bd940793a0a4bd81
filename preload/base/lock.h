/* lock.h - the runtime's lock, a word and a futex; and the turnstile, for long waits.
 *
 * States of a lock's word: 0 free, 1 held, 2 held and a thread may sleep on it. While the process
 * has one thread (libc keeps a flag for its own malloc) the word is written without locked
 * instructions.
 *
 * While a thread holds a lock no signal handler of the program may run in that thread: the handler
 * could wait for a thread that waits for the lock, or leave by longjmp. Blocking signals costs two
 * system calls (246 ns a pair on a 2-core VM), so nothing is blocked. Instead the thread counts the
 * locks it holds, and a signal that arrives meanwhile is deferred until the count is 0 again
 * (signal_trampoline.h).
 */
#ifndef PRELOAD_BASE_LOCK_H
#define PRELOAD_BASE_LOCK_H

#include "preload/base/base.h"

struct lock {
    uint32_t word;
};

/* The locks of one thread: how many it holds, and what to do when it holds none again. */
struct lock_thread {
    uint32_t held;
    bool put_off; /* a signal was deferred; all are blocked, and "mask" is the mask to restore */
    uint64_t mask;
};

extern __thread struct lock_thread lock_thread __attribute__((tls_model("initial-exec")));
/* libc's flag "this process has one thread", or a zero where libc has no such flag. */
extern const char *lock_single_threaded HIDDEN;

/* What unlocking needs; lives on the caller's stack. */
struct locked {
    struct lock *lock;
    bool alone;
};

/* Called before there are threads. */
void lock_start(void);

/* Takes and gives a lock without counting it. fork needs this: the lock is held across a system
 * call, and both the parent and the child release it. */
void lock_take_raw(struct lock *lock);
void lock_give_raw(struct lock *lock);
/* NAME_fork_lock() and NAME_fork_unlock() of each row of lifecycle.def with a lock; all_locks.c calls
 * them. */
#define LOCKED(name)                                                                               \
    void name##_fork_lock(void);                                                                   \
    void name##_fork_unlock(void);
#define INNER(name)
#define NONE(name)
#define MODULE(name, file, lock, ...) lock(name)
#include "preload/lifecycle.def"
#undef LOCKED
#undef INNER
#undef NONE
/* Defines the two, for a module with one lock. */
#define LOCK_FOR_FORK(module, lock)                                                                \
    void module##_fork_lock(void)                                                                  \
    {                                                                                              \
        lock_take_raw(lock);                                                                       \
    }                                                                                              \
    void module##_fork_unlock(void)                                                                \
    {                                                                                              \
        lock_give_raw(lock);                                                                       \
    }

/* Restores the signal mask: deferred signals are delivered. */
void lock_unblock_signals(void);

/* Counts one more held lock. While there is one thread this is the part of locking that matters. */
static inline void lock_count_taken(void)
{
    lock_thread.held++;
    __asm__ volatile("" ::: "memory"); /* before anything a handler could interrupt */
}

static inline struct locked lock_take(struct lock *lock)
{
    struct locked locked = {.lock = lock, .alone = *lock_single_threaded};
    lock_count_taken();
    if (likely(locked.alone))
        store_relaxed(&lock->word, 1);
    else
        lock_take_raw(lock);
    return locked;
}

static inline void lock_count_given(void)
{
    __asm__ volatile("" ::: "memory");
    lock_thread.held--;
    __asm__ volatile("" ::: "memory"); /* an earlier signal may have been deferred */
    if (unlikely(lock_thread.put_off) && !lock_thread.held)
        lock_unblock_signals();
}

static inline void lock_give(struct locked *locked)
{
    if (likely(locked->alone))
        store_release(&locked->lock->word, 0); /* pairs with no acquire: there is one thread */
    else
        lock_give_raw(locked->lock);
    lock_count_given();
}

/* Takes the lock if it is free. False, without waiting, when it is held. */
static inline bool lock_try(struct lock *lock, struct locked *locked)
{
    uint32_t seen = 0;
    *locked = (struct locked){.lock = lock};
    lock_count_taken();
    if (cas_acquire(&lock->word, &seen, 1))
        return true;
    lock_count_given();
    return false;
}

#ifdef LEAK_DEBUG
/* Asserts the order of preload/lifecycle.def: a thread takes the lock of a row only while it holds
 * none of a later row. The file that takes a lock says which row it is. */
void lock_order_take(const struct lock *lock, const char *file);
void lock_order_hold(const struct lock *lock, const char *file); /* without waiting: no order */
void lock_order_give(const struct lock *lock);
#define lock_take(lock) (lock_order_take(lock, __FILE__), lock_take(lock))
#define lock_try(lock, locked) (lock_try(lock, locked) && (lock_order_hold(lock, __FILE__), true))
#define lock_give(locked) (lock_order_give((locked)->lock), lock_give(locked))
#endif

/* ---- Turnstile ------------------------------------------------------------------------------ */

/* Admits one thread at a time. Unlike with a lock, the threads inside and waiting hold nothing:
 * signals are delivered, and stop_the_world can stop them. A thread that enters again from a signal
 * handler is refused instead of waiting for itself. */
struct turnstile {
    uint32_t owner; /* tid of the thread inside, 0 = none */
};

/* Enters if nobody is inside. False, without waiting, when a thread is, even the calling one. */
bool turnstile_try(struct turnstile *turn);
/* Enters, and waits up to `most` nanoseconds for the thread that is inside. False: the time is
 * over, or the calling thread itself is inside (a signal handler interrupted it there, or it left
 * by longjmp). */
bool turnstile_enter(struct turnstile *turn, uint64_t most);
void turnstile_leave(struct turnstile *turn);
bool turnstile_is_occupied(const struct turnstile *turn);
/* Opens the turnstile in a fork child, where the thread that was inside does not exist. */
void turnstile_reset(struct turnstile *turn);

#endif
