#include "preload/lock.h"
#include "preload/atomic.h"
#include "preload/sys.h"
#include "arch.h"

static bool handlers_expected;

void lock_expect_handlers(void)
{
    store_relaxed(&handlers_expected, true);
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

static struct locked begin(struct lock *lock)
{
    struct locked locked = {.lock = lock, .masked = load_relaxed(&handlers_expected)};
    if (unlikely(locked.masked))
        sys_signals_block(&locked.mask);
    return locked;
}

struct locked lock_take(struct lock *lock)
{
    struct locked locked = begin(lock);
    lock_take_raw(lock);
    return locked;
}

bool lock_try(struct lock *lock, struct locked *locked)
{
    uint32_t seen = 0;
    *locked = begin(lock);
    if (cas_acquire(&lock->word, &seen, 1))
        return true;
    if (locked->masked)
        sys_signals_restore(&locked->mask);
    return false;
}

void lock_give(struct locked *locked)
{
    lock_give_raw(locked->lock);
    if (unlikely(locked->masked))
        sys_signals_restore(&locked->mask);
}
