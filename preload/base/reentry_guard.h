/* reentry_guard.h - the reentrancy guard: a token says "this thread is inside the runtime".
 *
 * Every hook first tries to take the token; without it the hook only calls the real function.
 * Functions that may only run inside the runtime take the token as a parameter, so the compiler
 * enforces that rule. The token is a thread-local variable (TLS model initial-exec) with the
 * caller's frame of the hook that holds it. While the thread is outside the runtime, the token's sp
 * is 0.
 *
 * A signal handler of the program may leave a hook by longjmp, and leave the token behind.
 * guard_enter recognises this when the entry cannot lie inside the abandoned hook: it comes from a
 * frame that is not below that hook's frame on the same stack, or the hook's return address is no
 * longer where the call put it.
 *
 * The token is never held while code of the program runs (constructors, thread routines, new
 * handlers), so what that code allocates is tracked.
 */
#ifndef PRELOAD_BASE_REENTRY_GUARD_H
#define PRELOAD_BASE_REENTRY_GUARD_H

#include "preload/base/base.h"

struct thread;

struct guard {
    uintptr_t sp, pc;
    struct thread *thread; /* state of this thread, NULL until its first hook; threads.c owns it */
    /* The hook is inside a call of the real allocator. If the allocator calls other hooks, their
     * calls belong to that call and are not counted again. */
    bool calling_real;
    bool leaving; /* the thread is ending: "thread" is given up and must not be made again */
    /* Flags to set in struct block.kind of the blocks that this thread allocates (block.h). */
    uint8_t kind_flags;
    /* This thread has called vfork, so the caller may be the vfork child (resource_records.h). */
    bool vforks;
    /* How often the program has disabled recording in this thread, minus how often it has enabled
     * it (capture.h). */
    uint16_t disabled;
    uint16_t tag; /* tag of the blocks that this thread allocates, 0: none; capture.c sets it */
    /* A signal handler waits until this thread leaves the runtime: guard_leave then calls
     * guard_callbacks.outside. */
    bool asked;
    struct arch_link link; /* tells, together with sp, where pc is stored until the hook returns */
};

extern __thread struct guard guard_self __attribute__((tls_model("initial-exec")));

extern struct guard_callbacks {
    /* Called when a thread whose "asked" is set has left the runtime; stop_the_world.c sets it. */
    void (*outside)(void);
    /* Called when a longjmp has left a token behind; may be NULL; store.c sets it. */
    void (*abandoned)(void);
    /* On CPUs with ARCH_SLOTS_VARY: says whether a stack walk from the frame shows that the hook
     * called with this sp was left by longjmp (unwind_passes of unwind.h). NULL: not used.
     * capture.c sets it. */
    bool (*passes)(const struct frame *frame, uintptr_t sp);
} guard_callbacks HIDDEN;

/* Handles an entry while the token is taken: takes over a token that a longjmp has left behind.
 * NULL: the call is nested, the runtime itself has called. */
struct guard *guard_enter_nested(const struct frame *caller);

/* Takes the token. NULL: the runtime itself is the caller. */
static inline struct guard *guard_enter(const struct frame *caller)
{
    struct guard *guard = &guard_self;
    if (unlikely(guard->sp))
        return guard_enter_nested(COPY_OF(caller));
    uintptr_t sp = caller->sp; /* a copy that stays in a register */
    guard->pc = caller->pc;
    guard->link = caller->link;
    /* The compiler must keep this order, so that a signal handler that sees sp also sees pc and
     * link. */
    __asm__ volatile("" ::: "memory");
    guard->sp = sp;
    __asm__ volatile("" ::: "memory"); /* from here on a signal handler finds this thread inside */
    return guard;
}

COLD void guard_call_outside(struct guard *guard);

static inline void guard_leave(struct guard *guard)
{
    __asm__ volatile("" ::: "memory");
    guard->sp = 0;
    __asm__ volatile("" ::: "memory"); /* from here on a signal handler finds this thread outside */
    if (unlikely(guard->asked))
        guard_call_outside(guard);
}

#endif
