#include "preload/base/reentry_guard.h"
#include "preload/base/sys.h"

__thread struct guard guard_self;

#define RECORDS_MOST 4096

/* Where return addresses are saved anywhere in the callee's frame, an old one may lie untouched in
 * a gap of somebody else's. But there each frame has a record {caller's record, return address} (so
 * says the ABI), and a hook that is not over has its own on the chain that begins at the caller's
 * fp. True when the chain passes it by; when there is no telling, false. low, high: a stack that
 * lies before the held hook's, to be left first. */
static bool chain_passes(uintptr_t held, uintptr_t record, uintptr_t low, uintptr_t high)
{
    uintptr_t next;
    for (int i = 0; i < RECORDS_MOST && sys_peek(record, &next, sizeof next); i++, record = next) {
        if (record - low < high - low)
            continue;
        if (record >= held)
            return record > held;
        if (next <= record)
            break;
    }
    return false;
}

/* Is the hook that holds the token certainly over? */
static bool left_behind(const struct guard *held, const struct frame *caller)
{
    uintptr_t low = 0, high = 0, pc;
    bool on_signal_stack = sys_on_signal_stack(&low, &high);
    bool same_stack = !on_signal_stack || held->sp - low < high - low;
    /* On one stack, what lies inside a call lies below it. */
    if (same_stack && caller->sp >= held->sp)
        return true;
    /* A call that has not returned still has its return address where it was put. */
    uintptr_t slot = arch_return_slot(held->sp, held->link);
    if (sys_peek(slot, &pc, sizeof pc)) {
        if (arch_strip(pc) != held->pc)
            return true;
        return ARCH_LINK_REGISTER &&
               chain_passes(slot - sizeof pc, caller->fp, same_stack ? high : low, high);
    }
    /* Its stack is gone altogether (a fibre's), unless the kernel lets us read nothing (seccomp).
     */
    return sys_peek((uintptr_t)&low, &pc, sizeof pc);
}

struct guard *guard_enter_again(const struct frame *caller)
{
    struct guard *guard = &guard_self;
    if (!left_behind(guard, caller))
        return NULL;
    if (guard_abandoned)
        guard_abandoned();
    guard->calling_real = false;
    guard->sp = caller->sp;
    guard->pc = caller->pc;
    guard->link = caller->link;
    return guard;
}

void (*guard_outside)(void);
void (*guard_abandoned)(void);

void guard_come_out(struct guard *guard)
{
    guard->asked = false;
    guard_outside();
}
