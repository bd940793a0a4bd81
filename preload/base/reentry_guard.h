/* reentry_guard.h - "this thread is inside the runtime", as a token.
 *
 * Every hook asks for the token first; without one it goes straight to the real function. What may
 * only run inside the runtime takes the token as a parameter, so the compiler proves the rule. The
 * state is initial-exec TLS: the caller's frame of the hook that holds the token, sp 0 outside.
 *
 * A signal handler may longjmp out of a hook. The token it leaves behind is recognised by the next
 * entry that cannot lie inside the abandoned hook: it comes from as high on the same stack, or the
 * hook's return address is no longer where the call had put it.
 *
 * The token is never held across code that is not ours (constructors, thread routines, new
 * handlers): what they allocate is tracked.
 */
#ifndef PRELOAD_BASE_REENTRY_GUARD_H
#define PRELOAD_BASE_REENTRY_GUARD_H

#include "preload/base/base.h"

struct thread;

struct guard {
    uintptr_t sp, pc;
    struct thread *thread; /* this thread's state, NULL until its first hook; owner: threads.c */
    bool calling_real;     /* inside the allocator: nested calls are part of the outer one */
    bool leaving;          /* thread state is gone for good: the thread is at its end */
    uint8_t kind_flags;    /* of the blocks this thread makes, beside their kind (blocks.h) */
    bool vforks;       /* this thread has called vfork: it may be the child (resource_records.h) */
    uint16_t disabled; /* by the program, so often (capture.h) */
    uint16_t tag;      /* of the blocks this thread makes, 0 = none; owner: tags.c */
    bool asked;        /* a handler wants this thread outside: guard_outside is called then */
    struct arch_link link; /* with sp: where pc stands while the hook is not over */
};

extern __thread struct guard guard_self __attribute__((tls_model("initial-exec")));

/* The slow half of guard_enter: a token is out already. NULL when the call is nested. */
struct guard *guard_enter_again(const struct frame *caller);

/* The token, or NULL when the runtime itself is calling. */
static inline struct guard *guard_enter(const struct frame *caller)
{
    struct guard *guard = &guard_self;
    if (unlikely(guard->sp))
        return guard_enter_again(COPY_OF(caller));
    uintptr_t sp = caller->sp; /* in a register */
    guard->pc = caller->pc;
    guard->link = caller->link;
    __asm__ volatile("" ::: "memory"); /* a handler that sees sp sees where to look for pc */
    guard->sp = sp;
    __asm__ volatile("" ::: "memory"); /* before anything a handler could interrupt */
    return guard;
}

/* What is waiting for this thread to come out; owner: stop_the_world.c. */
extern void (*guard_outside)(void) HIDDEN;
/* Counts a token that a longjmp left behind; NULL: not counted. Owner: store.c. */
extern void (*guard_abandoned)(void) HIDDEN;
COLD void guard_come_out(struct guard *guard);

static inline void guard_leave(struct guard *guard)
{
    __asm__ volatile("" ::: "memory");
    guard->sp = 0;
    __asm__ volatile("" ::: "memory"); /* a handler that comes from here on finds us outside */
    if (unlikely(guard->asked))
        guard_come_out(guard);
}

#endif
