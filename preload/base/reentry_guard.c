#include "preload/base/reentry_guard.h"
#include "preload/base/sys.h"

__thread struct guard guard_self;
struct guard_callbacks guard_callbacks;

#define RECORDS_MOST 4096

/* Says whether the frames from the frame record "record" on show that the hook with the token
 * has been left. Used on a CPU that saves return addresses anywhere in the callee's frame, where an
 * old return address may survive in a gap of a newer frame. The ABI of such a CPU gives each frame
 * a record {caller's record, return address}; the record of a hook that has not returned is on the
 * chain of records that begins at the caller's fp. held: address of the hook's record. low, high: a
 * stack that the chain has to leave before it reaches that record. False also if the chain cannot
 * be followed. */
static bool chain_bypasses(uintptr_t held, uintptr_t record, uintptr_t low, uintptr_t high)
{
    uintptr_t next;
    for (int i = 0; i < RECORDS_MOST && sys_peek(record, &next, sizeof next); i++, record = next) {
        next += ARCH_FRAME_RECORD;
        if (record - low < high - low)
            continue;
        if (record >= held)
            return record > held;
        if (next <= record)
            break;
    }
    return false;
}

/* Says whether the hook that holds the token has certainly been left, by longjmp. */
static bool is_abandoned(const struct guard *held, const struct frame *caller)
{
    uintptr_t low = 0, high = 0, pc;
    bool on_signal_stack = sys_on_signal_stack(&low, &high);
    bool same_stack = !on_signal_stack || held->sp - low < high - low;
    /* Code that runs inside the hook has its frame below the hook's on the same stack. The
     * caller's frame is not below it, so the hook has been left. */
    if (same_stack && caller->sp >= held->sp)
        return true;
    /* The return address of a call that has not returned is still on the stack. If another word is
     * there, the hook has been left. */
    uintptr_t slot = arch_return_slot(held->sp, held->link);
    if (sys_peek(slot, &pc, sizeof pc)) {
        if (arch_strip(pc) != held->pc)
            return true;
        if (guard_callbacks.passes && same_stack)
            return guard_callbacks.passes(caller, held->sp);
        return ARCH_LINK_REGISTER &&
               chain_bypasses(slot - sizeof pc, caller->fp + ARCH_FRAME_RECORD,
                              same_stack ? high : low, high);
    }
    /* The return address cannot be read. Either the hook's stack, that of a fibre, was unmapped,
     * and so the hook has been left; or seccomp allows no such reads. Reading a variable of this
     * function tells which. */
    return sys_peek((uintptr_t)&low, &pc, sizeof pc);
}

struct guard *guard_enter_nested(const struct frame *caller)
{
    struct guard *guard = &guard_self;
    if (!is_abandoned(guard, caller))
        return NULL;
    if (guard_callbacks.abandoned)
        guard_callbacks.abandoned();
    guard->calling_real = false;
    guard->sp = caller->sp;
    guard->pc = caller->pc;
    guard->link = caller->link;
    return guard;
}

void guard_call_outside(struct guard *guard)
{
    guard->asked = false;
    guard_callbacks.outside();
}
