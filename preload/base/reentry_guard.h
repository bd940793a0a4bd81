/* reentry_guard.h - the reentrancy guard: "this thread is inside the runtime", as a token.
 *
 * Every hook first tries to take the token; without it the hook goes straight to the real function.
 * Functions that may only run inside the runtime take the token as a parameter, so the compiler
 * proves the rule. The state is initial-exec TLS: the caller's frame of the hook that holds the
 * token; sp is 0 outside.
 *
 * A signal handler may longjmp out of a hook. The token left behind is recognised by the next entry
 * that cannot lie inside the abandoned hook: it comes from as high on the same stack, or the hook's
 * return address is no longer where the call put it.
 *
 * The token is never held across code of the program (constructors, thread routines, new handlers):
 * what that code allocates is tracked.
 */
#ifndef PRELOAD_BASE_REENTRY_GUARD_H
#define PRELOAD_BASE_REENTRY_GUARD_H

#include "preload/base/base.h"

struct thread;

struct guard {
    uintptr_t sp, pc;
    struct thread *thread; /* this thread's state, NULL until its first hook; owner: threads.c */
    bool calling_real;     /* inside the allocator: nested calls are part of the outer one */
    bool leaving;          /* the thread is at its end: its state is gone for good */
    uint8_t kind_flags;    /* of the blocks this thread makes, beside their kind (blocks.h) */
    bool vforks;           /* this thread called vfork: it may be the child (resource_records.h) */
    uint16_t disabled;     /* how often the program has disabled recording here (capture.h) */
    uint16_t tag;          /* of the blocks this thread makes, 0 = none; owner: tags.c */
    bool asked;            /* a handler waits for this thread: call guard_callbacks.outside */
    struct arch_link link; /* with sp: where pc stands until the hook returns */
};

extern __thread struct guard guard_self __attribute__((tls_model("initial-exec")));

extern struct guard_callbacks {
    void (*outside)(
        void); /* a thread that was asked has left the runtime; owner: stop_the_world.c */
    void (*abandoned)(void); /* a longjmp left a token behind; may be NULL; owner: store.c */
    /* unwind_passes of unwind.h, where ARCH_SLOTS_VARY; may be NULL; owner: capture.c */
    bool (*passes)(const struct frame *frame, uintptr_t sp);
} guard_callbacks HIDDEN;

/* The slow half of guard_enter: the token is taken already. NULL when the call is nested. */
struct guard *guard_enter_nested(const struct frame *caller);

/* The token, or NULL when the runtime itself is the caller. */
static inline struct guard *guard_enter(const struct frame *caller)
{
    struct guard *guard = &guard_self;
    if (unlikely(guard->sp))
        return guard_enter_nested(COPY_OF(caller));
    uintptr_t sp = caller->sp; /* in a register */
    guard->pc = caller->pc;
    guard->link = caller->link;
    __asm__ volatile("" ::: "memory"); /* a handler that sees sp also sees pc and link */
    guard->sp = sp;
    __asm__ volatile("" ::: "memory"); /* before anything a handler could interrupt */
    return guard;
}

COLD void guard_call_outside(struct guard *guard);

static inline void guard_leave(struct guard *guard)
{
    __asm__ volatile("" ::: "memory");
    guard->sp = 0;
    __asm__ volatile(
        "" ::
            : "memory"); /* a handler that runs from here on finds this thread outside */
    if (unlikely(guard->asked))
        guard_call_outside(guard);
}

#endif
