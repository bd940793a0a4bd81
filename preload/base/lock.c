#include "preload/base/lock.h"
#include "preload/base/sys.h"

#include <time.h>

/* glibc has this variable since version 2.32. */
extern char __libc_single_threaded __attribute__((weak));

static const char never_single_threaded;

__thread struct lock_thread lock_thread;
const char *lock_single_threaded = &never_single_threaded;

void lock_start(void)
{
    if (&__libc_single_threaded)
        lock_single_threaded = &__libc_single_threaded;
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

void lock_unblock_signals(void)
{
    uint64_t mask = lock_thread.mask;
    lock_thread.put_off = false;
    sys_signals_restore(&mask);
}

/* ---- Turnstile ------------------------------------------------------------------------------- */

#define OWNER_POLL                                                                                 \
    20000000ull /* ns after which a waiting thread tries again, even if nothing wakes it */

bool turnstile_try(struct turnstile *turn)
{
    uint32_t none = 0;
    return cas_acquire(&turn->owner, &none, sys_gettid());
}

bool turnstile_enter(struct turnstile *turn, uint64_t most)
{
    uint32_t self = sys_gettid(), owner = 0;
    uint64_t start = sys_clock_ns(CLOCK_MONOTONIC);
    while (!cas_acquire(&turn->owner, &owner, self)) {
        if (owner == self || sys_clock_ns(CLOCK_MONOTONIC) - start > most)
            return false;
        sys_futex_wait_for(&turn->owner, owner, OWNER_POLL);
        owner = 0;
    }
    return true;
}

void turnstile_leave(struct turnstile *turn)
{
    /* Pairs with the acquire in turnstile_try and turnstile_enter. */
    store_release(&turn->owner, 0);
    sys_futex_wake(&turn->owner, 1);
}

bool turnstile_is_occupied(const struct turnstile *turn)
{
    return load_relaxed(&turn->owner);
}

void turnstile_reset(struct turnstile *turn)
{
    turn->owner = 0;
}

#ifdef LEAK_DEBUG
/* ---- Checking the order of locks ------------------------------------------------------------- */

#define HELD_MOST 16

/* The names of the files that take locks, in the order in which locks may be taken
 * (lifecycle.def), then NULL. Defined in all_locks.c; in programs that do not link that file the
 * address is NULL. */
extern const char *const lock_ranks[] __attribute__((weak));

static __thread struct {
    const struct lock *lock;
    const char *file;
    int rank;
} held_locks[HELD_MOST] __attribute__((tls_model("initial-exec")));
static __thread int held_count __attribute__((tls_model("initial-exec")));

static void fail_order(const char *file, const char *what, const char *held)
{
    const char *parts[] = {"libleak: lock order: ", file, what, held, "\n"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        sys_write(2, parts[i], strlen(parts[i]));
    __builtin_trap();
}

static int rank_of_file(const char *file)
{
    const char *base = strrchr(file, '/') ? strrchr(file, '/') + 1 : file;
    for (int i = 0; lock_ranks[i]; i++) {
        size_t length = strlen(lock_ranks[i]);
        if (strncmp(base, lock_ranks[i], length) == 0 && base[length] == '.')
            return i;
    }
    fail_order(file, " takes a lock and has no row in preload/", "lifecycle.def");
    return 0;
}

void lock_order_hold(const struct lock *lock, const char *file)
{
    if (!lock_ranks)
        return;
    if (held_count == HELD_MOST)
        fail_order(file, " takes one lock too many after ", held_locks[HELD_MOST - 1].file);
    held_locks[held_count].lock = lock;
    held_locks[held_count].file = file;
    held_locks[held_count++].rank = rank_of_file(file);
}

void lock_order_take(const struct lock *lock, const char *file)
{
    for (int i = 0; lock_ranks && i < held_count; i++)
        if (held_locks[i].rank > rank_of_file(file))
            fail_order(file, " takes its lock after that of ", held_locks[i].file);
    lock_order_hold(lock, file);
}

void lock_order_give(const struct lock *lock)
{
    for (int i = held_count; i-- > 0;)
        if (held_locks[i].lock == lock) {
            held_locks[i] = held_locks[--held_count];
            return;
        }
}
#endif
