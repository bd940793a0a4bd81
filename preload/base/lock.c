#include "preload/base/lock.h"
#include "preload/base/sys.h"
#include "arch.h"

/* Since glibc 2.32. */
extern char __libc_single_threaded __attribute__((weak));

static const char never_alone;

__thread struct lock_thread lock_thread;
const char *lock_alone = &never_alone;

void lock_start(void)
{
    if (&__libc_single_threaded)
        lock_alone = &__libc_single_threaded;
}

void lock_take_raw(struct lock *lock)
{
    uint32_t seen = 0;
    if (likely(cas_acquire(&lock->word, &seen, 1)))
        return;
    for (int spin = 0; spin < 100; spin++) {
        arch_pause();
        seen = 0;
        if (load_relaxed(&lock->word) == 0 && cas_acquire(&lock->word, &seen, 1))
            return;
    }
    while (exchange_acquire(&lock->word, 2) != 0)
        sys_futex_wait(&lock->word, 2);
}

void lock_give_raw(struct lock *lock)
{
    /* Pairs with the acquire in lock_take_raw and lock_try. */
    if (unlikely(exchange_release(&lock->word, 0) == 2))
        sys_futex_wake(&lock->word, 1);
}

void lock_let_signals_in(void)
{
    uint64_t mask = lock_thread.mask;
    lock_thread.put_off = false;
    sys_signals_restore(&mask);
}
