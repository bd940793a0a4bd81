/* guard.h - "this thread is inside the runtime", as a token.
 *
 * Every hook asks for the token first; without one it goes straight to the real function. What may only
 * run inside the runtime takes the token as a parameter, so the compiler proves the rule. The state
 * is one word of initial-exec TLS: 0 outside, else the stack pointer of the hook that holds it.
 *
 * A signal handler may longjmp out of a hook. The token it leaves behind is recognised by the next
 * entry that cannot lie inside the abandoned hook: one with a higher stack pointer on the same stack.
 *
 * The token is never held across code that is not ours (constructors, thread routines, new
 * handlers): what they allocate is tracked.
 */
#ifndef PRELOAD_GUARD_H
#define PRELOAD_GUARD_H

#include "preload/base.h"

struct thread;

struct guard {
    uintptr_t sp;
    struct thread *thread; /* this thread's state, NULL until its first hook; owner: threads.c */
    bool calling_real;     /* inside the allocator: nested calls are part of the outer one */
    bool leaving;          /* thread state is gone for good: the thread is at its end */
};

extern __thread struct guard guard_self __attribute__((tls_model("initial-exec")));

/* The slow half of guard_enter: a token is out already. NULL when the call is nested. */
struct guard *guard_enter_again(uintptr_t sp);

/* The token, or NULL when the runtime itself is calling. sp: any address in the hook's frame. */
static inline struct guard *guard_enter(uintptr_t sp)
{
    struct guard *guard = &guard_self;
    if (unlikely(guard->sp))
        return guard_enter_again(sp);
    guard->sp = sp;
    __asm__ volatile("" ::: "memory"); /* before anything a handler could interrupt */
    return guard;
}

static inline void guard_leave(struct guard *guard)
{
    __asm__ volatile("" ::: "memory");
    guard->sp = 0;
}

/* Counted when a token left behind was cleared. */
uint64_t guard_abandoned(void);

#endif
