#include "preload/base/turnstile.h"
#include "preload/base/atomic.h"
#include "preload/base/sys.h"

#include <time.h>

#define POLL 20000000ull /* ns between two questions whether it is still somebody's */

bool turn_try(struct turn *turn)
{
    uint32_t nobody = 0;
    return cas_acquire(&turn->owner, &nobody, sys_gettid());
}

bool turn_take(struct turn *turn, uint64_t most)
{
    uint32_t self = sys_gettid(), owner = 0;
    uint64_t begun = sys_clock_ns(CLOCK_MONOTONIC);
    while (!cas_acquire(&turn->owner, &owner, self)) {
        if (owner == self || sys_clock_ns(CLOCK_MONOTONIC) - begun > most)
            return false;
        sys_futex_wait_for(&turn->owner, owner, POLL);
        owner = 0;
    }
    return true;
}

void turn_end(struct turn *turn)
{
    store_release(&turn->owner, 0); /* pairs with turn_try and turn_take */
    sys_futex_wake(&turn->owner, 1);
}

bool turn_is_taken(const struct turn *turn)
{
    return load_relaxed(&turn->owner);
}

void turn_forget(struct turn *turn)
{
    turn->owner = 0;
}
