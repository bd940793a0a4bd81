#include "preload/handlers.h"
#include "preload/atomic.h"
#include "preload/lock.h"
#include "preload/sys.h"

#include <ucontext.h>

#define DOORS 256

typedef void action(int number, siginfo_t *info, void *context);

__thread uint32_t handlers_entered;

static void *behind[DOORS]; /* handlers; filled from the front, an entry never changes */

/* Linux 5.11 has a meaning for it, for faults on ARM, which have no doors. */
#ifndef SA_EXPOSE_TAGBITS
#define SA_EXPOSE_TAGBITS 0x800
#endif
#define INFO_UNASKED SA_EXPOSE_TAGBITS
#define FIRST_REAL_TIME 32 /* the kernel's: libc keeps some of them to itself */

/* To the end of the queue; and then what was there goes behind it, one by one, for real-time
 * signals keep their order. */
static bool send_again(int number, const siginfo_t *info)
{
    siginfo_t mark = {.si_code = SI_QUEUE}, next;
    if (number < FIRST_REAL_TIME)
        return sys_signal_self(number, info) >= 0;
    mark.si_pid = -1;
    mark.si_value.sival_ptr = &mark;
    if (sys_signal_self(number, &mark) < 0)
        return false;
    bool sent = sys_signal_self(number, info) >= 0;
    while (sys_signal_take(number, &next) == number &&
           !(next.si_pid == mark.si_pid && next.si_value.sival_ptr == &mark))
        sys_signal_self(number, &next);
    return sent;
}

/* The handler has run out of its one call by being put off: the kernel has set it back. */
static void arm_again(int number, struct sys_action *now, action *door)
{
    if (now->handler != (uintptr_t)SIG_DFL || !(now->flags & SA_RESETHAND))
        return;
    now->handler = (uintptr_t)door;
    sys_action(number, now, NULL);
}

/* False when that cannot be: the kernel would not take the signal back, or it came just between
 * signal() and handlers_complete, without what it carries. */
static bool put_off(int number, siginfo_t *info, ucontext_t *context, action *door)
{
    uint64_t all, mask;
    struct sys_action now;
    sys_action(number, NULL, &now);
    if (!(now.flags & SA_SIGINFO))
        return false;
    sys_signals_block(&mask); /* with SA_NODEFER it would be entered again by the next line */
    if (!send_again(number, info)) {
        sys_signals_restore(&mask);
        return false;
    }
    arm_again(number, &now, door);
    memcpy(&lock_thread.mask, &context->uc_sigmask, sizeof lock_thread.mask);
    lock_thread.put_off = 1;
    sys_signals_block(&all); /* asks what "all" is: the mask of now, for after the return */
    memcpy(&context->uc_sigmask, &all, sizeof all);
    return true;
}

static inline void pass(unsigned number_of_door, action *door, int number, siginfo_t *info,
                        void *context)
{
    action *handler = (action *)load_relaxed(&behind[number_of_door]);
    if (unlikely(lock_thread.held) && put_off(number, info, context, door))
        return;
    bump(&handlers_entered, 1);
    handler(number, info, context);
}

/* ---- The doors: 256 functions that differ in one number ------------------------------------- */

#define DOOR(n)                                                                                    \
    static void door_##n(int number, siginfo_t *info, void *context)                               \
    {                                                                                              \
        pass(0x##n, door_##n, number, info, context);                                              \
    }
#define FOR_16(X, high)                                                                            \
    X(high##0)                                                                                     \
    X(high##1)                                                                                     \
    X(high##2)                                                                                     \
    X(high##3)                                                                                     \
    X(high##4) X(high##5) X(high##6) X(high##7) X(high##8) X(high##9) X(high##a) X(high##b)        \
        X(high##c) X(high##d) X(high##e) X(high##f)
#define FOR_256(X)                                                                                 \
    FOR_16(X, 0)                                                                                   \
    FOR_16(X, 1)                                                                                   \
    FOR_16(X, 2)                                                                                   \
    FOR_16(X, 3)                                                                                   \
    FOR_16(X, 4) FOR_16(X, 5) FOR_16(X, 6) FOR_16(X, 7) FOR_16(X, 8) FOR_16(X, 9) FOR_16(X, a)     \
        FOR_16(X, b) FOR_16(X, c) FOR_16(X, d) FOR_16(X, e) FOR_16(X, f)
#define NAME(n) door_##n,

FOR_256(DOOR)

static action *const doors[DOORS] = {FOR_256(NAME)};

/* ---- Giving them out ------------------------------------------------------------------------ */

static void *find_door(void *handler)
{
    for (unsigned i = 0; i < DOORS; i++) {
        void *there = NULL;
        if (cas_acquire(&behind[i], &there, handler) || there == handler)
            return (void *)doors[i];
    }
    return handler;
}

sighandler_t handlers_door(int number, sighandler_t handler)
{
    bool special = handler == SIG_DFL || handler == SIG_IGN || handler == SIG_HOLD ||
                   handler == SIG_ERR || sys_signal_is_fault(number);
    return special ? handler : (sighandler_t)find_door((void *)handler);
}

sighandler_t handlers_behind(sighandler_t door)
{
    for (unsigned i = 0; i < DOORS && load_relaxed(&behind[i]); i++)
        if ((void *)door == (void *)doors[i])
            return (sighandler_t)behind[i];
    return door;
}

void handlers_put_door(int number, struct sigaction *given)
{
    sighandler_t handler = given->sa_handler;
    given->sa_handler = handlers_door(number, handler);
    if (given->sa_handler != handler && !(given->sa_flags & SA_SIGINFO))
        given->sa_flags |= SA_SIGINFO | INFO_UNASKED;
}

void handlers_take_door(struct sigaction *given)
{
    given->sa_handler = handlers_behind(given->sa_handler);
    if (given->sa_flags & INFO_UNASKED)
        given->sa_flags &= ~(SA_SIGINFO | INFO_UNASKED);
}

void handlers_complete(int number)
{
    uint64_t mask;
    struct sys_action now;
    sys_signals_block(
        &mask); /* between reading and writing the one call of a handler could go by */
    if (sys_action(number, NULL, &now) >= 0 && !(now.flags & SA_SIGINFO) &&
        (uintptr_t)handlers_behind((sighandler_t)now.handler) != now.handler) {
        now.flags |= SA_SIGINFO | INFO_UNASKED;
        sys_action(number, &now, NULL);
    }
    sys_signals_restore(&mask);
}
