#include "preload/guard.h"
#include "preload/atomic.h"
#include "preload/sys.h"

__thread struct guard guard_self;

static uint64_t abandoned;

uint64_t guard_abandoned(void)
{
    return load_relaxed(&abandoned);
}

/* Is the hook that holds the token certainly over? Ladder: reasons to doubt come first. */
static bool left_behind(uintptr_t held_sp, uintptr_t sp)
{
    uintptr_t low, high;
    bool on_signal_stack = sys_on_signal_stack(&low, &high);
    bool held_on_signal_stack = on_signal_stack && held_sp - low < high - low;
    /* A handler on its own stack may well have interrupted the holder on another one. */
    if (on_signal_stack && !held_on_signal_stack)
        return false;
    /* On one stack, what lies inside a call lies below it. */
    return sp > held_sp;
}

struct guard *guard_enter_again(uintptr_t sp)
{
    struct guard *guard = &guard_self;
    if (!left_behind(guard->sp, sp))
        return NULL;
    add_relaxed(&abandoned, 1);
    guard->calling_real = false;
    guard->sp = sp;
    return guard;
}
