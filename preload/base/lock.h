/* lock.h - the runtime's lock, which is a word and a futex; and the turnstile, which admits one
 * thread for longer times.
 *
 * States of a lock's word: 0 free, 1 held, 2 held while other threads may sleep until it is given.
 * While the process has one thread (which a flag of libc says) the word is written without locked
 * instructions.
 *
 * While a thread holds a lock no signal handler of the program may run in that thread: the handler
 * could wait for a thread that waits for the lock, or leave by longjmp. Blocking signals costs two
 * system calls (246 ns a pair on a 2-core VM), so signals are not blocked. Instead the thread
 * counts the locks it holds, and a signal that arrives meanwhile is deferred until the count is 0
 * again (signal_trampoline.h).
 */
#ifndef PRELOAD_BASE_LOCK_H
#define PRELOAD_BASE_LOCK_H

#include "preload/base/base.h"

struct lock {
    uint32_t word;
};

/* How many locks a thread holds, and whether a signal waits for them to be given. */
struct lock_thread {
    uint32_t held;
    /* A signal was deferred: all signals are blocked now, and "mask" is the mask to restore. */
    bool put_off;
    uint64_t mask;
};

extern __thread struct lock_thread lock_thread __attribute__((tls_model("initial-exec")));
/* libc's flag "this process has one thread"; a zero byte if libc has no such flag. */
extern const char *lock_single_threaded HIDDEN;

/* What lock_give needs to give a lock that lock_take has taken. It lives on the caller's stack. */
struct locked {
    struct lock *lock;
    bool alone;
};

/* Finds libc's flag "this process has one thread". Call it before the program starts threads. */
void lock_start(void);

/* Takes or gives a lock without counting it for the thread. fork uses these functions: the lock is
 * held across the system call, and both the parent and the child give it. */
void lock_take_raw(struct lock *lock);
void lock_give_raw(struct lock *lock);
/* Declares NAME_fork_lock() and NAME_fork_unlock() for each row of lifecycle.def whose module has a
 * lock. all_locks.c calls these functions. */
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
/* Defines module_fork_lock() and module_fork_unlock() for a module with one lock. */
#define LOCK_FOR_FORK(module, lock)                                                                \
    void module##_fork_lock(void)                                                                  \
    {                                                                                              \
        lock_take_raw(lock);                                                                       \
    }                                                                                              \
    void module##_fork_unlock(void)                                                                \
    {                                                                                              \
        lock_give_raw(lock);                                                                       \
    }

/* Restores the signal mask, after which deferred signals are delivered. */
void lock_unblock_signals(void);

/* Counts one more lock that the thread holds; while the count is above 0, signals are deferred. */
static inline void lock_count_taken(void)
{
    lock_thread.held++;
    __asm__ volatile("" ::: "memory"); /* from here on a signal is deferred */
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
    /* The count is written before put_off is read: a signal that came while the count was above 0
     * was deferred. */
    __asm__ volatile("" ::: "memory");
    if (unlikely(lock_thread.put_off) && !lock_thread.held)
        lock_unblock_signals();
}

static inline void lock_give(struct locked *locked)
{
    /* Pairs with no acquire, because the process has one thread. */
    if (likely(locked->alone))
        store_release(&locked->lock->word, 0);
    else
        lock_give_raw(locked->lock);
    lock_count_given();
}

/* Takes the lock if it is free. False: another thread holds it. It does not wait. */
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
/* Checks the order of locks of preload/lifecycle.def: a thread takes the lock of a row only while
 * it holds no lock of a later row. The file that takes a lock identifies the row. */
void lock_order_take(const struct lock *lock, const char *file);
/* Notes a lock that lock_try has taken. The order is not checked, because lock_try does not wait. */
void lock_order_hold(const struct lock *lock, const char *file);
void lock_order_give(const struct lock *lock);
#define lock_take(lock) (lock_order_take(lock, __FILE__), lock_take(lock))
#define lock_try(lock, locked) (lock_try(lock, locked) && (lock_order_hold(lock, __FILE__), true))
#define lock_give(locked) (lock_order_give((locked)->lock), lock_give(locked))
#endif

/* ---- Turnstile ------------------------------------------------------------------------------- */

/* Admits one thread at a time. While a thread is inside or waits, signals are delivered to it and
 * stop_the_world can stop it, unlike with a lock. A thread that enters again from a signal handler
 * is refused instead of waiting for itself. */
struct turnstile {
    uint32_t owner; /* tid of the thread inside; 0: none */
};

/* Enters the turnstile if no thread is inside. False: a thread is inside, perhaps the calling one.
 * It does not wait. */
bool turnstile_try(struct turnstile *turn);
/* Enters the turnstile, and waits up to `most` nanoseconds for the thread inside to leave. False:
 * the time is over, or the calling thread itself is inside, because a signal handler interrupted it
 * there or has left it by longjmp. */
bool turnstile_enter(struct turnstile *turn, uint64_t most);
void turnstile_leave(struct turnstile *turn);
bool turnstile_is_occupied(const struct turnstile *turn);
/* Empties the turnstile in a fork child, where the thread that was inside does not exist. */
void turnstile_reset(struct turnstile *turn);

#endif
