#include "preload/signals/signal_trampoline.h"
#include "preload/base/base.h"
#include "preload/base/lock.h"
#include "preload/base/sys.h"
#include "context.h"

#define DOORS 256

typedef void action(int number, siginfo_t *info, void *context);

__thread uint32_t handlers_entered;
__thread struct handlers_stack handlers_stack;
void (*handlers_passing)(int number, siginfo_t *info, void *context);
bool (*handlers_want_our_stack)(uintptr_t handler);

static int kept_fault; /* number; 0: none */
static bool (*fault_is_ours)(const ucontext_t *context);

int handlers_kept_fault(void)
{
    return load_relaxed(&kept_fault);
}

bool handlers_keeps(int number, const void *context)
{
    return number == load_relaxed(&kept_fault) && fault_is_ours(context);
}

static void *behind[DOORS]; /* handlers; filled from the front, an entry never changes */
static bool stays[DOORS];   /* the handler runs where the kernel has put it */

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
    while (sys_take_signal(number, &next) == number &&
           !(next.si_pid == mark.si_pid && next.si_value.sival_ptr == &mark))
        sys_signal_self(number, &next);
    return sent;
}

/* The handler has run out of its one call by being put off: the kernel has set it back. */
static void arm_again(int number, struct sys_sigaction *now, action *door)
{
    if (now->handler != (uintptr_t)SIG_DFL || !(now->flags & SA_RESETHAND))
        return;
    now->handler = (uintptr_t)door;
    sys_sigaction(number, now, NULL);
}

/* False when that cannot be: the kernel would not take the signal back, or it came just between
 * signal() and handlers_complete, without what it carries. */
static bool put_off(int number, siginfo_t *info, ucontext_t *context, action *door)
{
    uint64_t all, mask;
    struct sys_sigaction now;
    sys_sigaction(number, NULL, &now);
    if (!(now.flags & SA_SIGINFO))
        return false;
    sys_signals_block(&mask); /* with SA_NODEFER it would be entered again by the next line */
    if (!send_again(number, info)) {
        sys_signals_restore(&mask);
        return false;
    }
    arm_again(number, &now, door);
    memcpy(&lock_thread.mask, &context->uc_sigmask, sizeof lock_thread.mask);
    lock_thread.put_off = true;
    sys_signals_block(&all); /* asks what "all" is: the mask of now, for after the return */
    memcpy(&context->uc_sigmask, &all, sizeof all);
    return true;
}

/* ---- Signals that kill ---------------------------------------------------------------------- */

static action *stand_in; /* in the place of the default action … */
static uint64_t stands;  /* … of these signals: bit number - 1 */
static struct handlers_default kept[SIGSYS + 1];

static inline bool is_stood_for(int number)
{
    return number > 0 && number <= SIGSYS && load_relaxed(&stands) >> (number - 1) & 1;
}

static inline bool on_our_stack(uintptr_t address)
{
    return address - handlers_stack.low < handlers_stack.size;
}

/* Everything but faults waits: one that we make ourselves must not kill without a word. */
static uint64_t all_but_faults(void)
{
    uint64_t mask = 0;
    for (int number = 1; number <= 64; number++)
        if (!sys_signal_is_fault(number))
            mask |= 1ull << (number - 1);
    return mask;
}

#define STAND_IN_FLAGS (SA_SIGINFO | SA_ONSTACK | SA_NODEFER)

static void put_stand_in(int number, struct sys_sigaction *now)
{
    kept[number] = (struct handlers_default){now->flags, now->mask};
    now->handler = (uintptr_t)stand_in;
    now->flags = (now->flags & CONTEXT_RESTORER) | STAND_IN_FLAGS;
    now->mask = all_but_faults();
    sys_sigaction(number, now, NULL);
}

/* A handler for one call: the kernel has set it back. The restorer is still there. */
static void stand_in_again(int number)
{
    struct sys_sigaction now;
    if (sys_sigaction(number, NULL, &now) >= 0 && now.handler == (uintptr_t)SIG_DFL &&
        now.flags & SA_RESETHAND)
        put_stand_in(number, &now);
}

void handlers_begin(action *handler, int number, siginfo_t *info, void *context)
{
    uintptr_t top = handlers_stack.low + handlers_stack.size;
    bool move = CONTEXT_FRAMES_MOVE && on_our_stack((uintptr_t)context) &&
                !on_our_stack(context_sp(context));
    if (move)
        context_move(number, info, context, top, (void *)handler);
    handler(number, info, context);
}

/* It has a door only when it is kept: then a fault that it is not for kills as ever. */
static void pass_ignored(int number, const siginfo_t *info)
{
    const struct sys_sigaction fatal = {.handler = (uintptr_t)SIG_DFL};
    if (info->si_code > 0)
        sys_sigaction(number, &fatal, NULL);
}

static NOINLINE void pass_with_care(action *handler, action *door, int number, siginfo_t *info,
                                    void *context, bool stay)
{
    if (handlers_keeps(number, context)) {
        struct sys_sigaction now;
        sys_sigaction(number, NULL, &now);
        arm_again(number, &now, door);
        return;
    }
    if (handler == (action *)(void *)SIG_IGN)
        return pass_ignored(number, info);
    if (is_stood_for(number)) {
        stand_in_again(number);
        if (handlers_passing)
            handlers_passing(number, info, context);
    }
    if (stay)
        handler(number, info, context);
    else
        handlers_begin(handler, number, info, context);
}

static inline void pass(unsigned number_of_door, action *door, int number, siginfo_t *info,
                        void *context)
{
    action *handler = (action *)load_relaxed(&behind[number_of_door]);
    if (unlikely(lock_thread.held) && !sys_signal_is_fault(number) &&
        put_off(number, info, context, door))
        return;
    bump(&handlers_entered, 1);
    if (unlikely(is_stood_for(number) || on_our_stack((uintptr_t)context)))
        pass_with_care(handler, door, number, info, context, load_relaxed(&stays[number_of_door]));
    else
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
    X(high##4)                                                                                     \
    X(high##5) X(high##6) X(high##7) X(high##8) X(high##9) X(high##a) X(high##b) X(high##c)        \
        X(high##d) X(high##e) X(high##f)
#define FOR_256(X)                                                                                 \
    FOR_16(X, 0)                                                                                   \
    FOR_16(X, 1)                                                                                   \
    FOR_16(X, 2)                                                                                   \
    FOR_16(X, 3)                                                                                   \
    FOR_16(X, 4)                                                                                   \
    FOR_16(X, 5) FOR_16(X, 6) FOR_16(X, 7) FOR_16(X, 8) FOR_16(X, 9) FOR_16(X, a) FOR_16(X, b)     \
        FOR_16(X, c) FOR_16(X, d) FOR_16(X, e) FOR_16(X, f)
#define NAME(n) door_##n,

FOR_256(DOOR)

static action *const doors[DOORS] = {FOR_256(NAME)};

/* ---- Giving them out ------------------------------------------------------------------------ */

static void *find_door(void *handler)
{
    for (unsigned i = 0; i < DOORS; i++) {
        void *there = NULL;
        bool new = cas_acquire(&behind[i], &there, handler);
        if (new &&handlers_want_our_stack)
            store_relaxed(&stays[i], handlers_want_our_stack((uintptr_t)handler));
        if (new || there == handler)
            return (void *)doors[i];
    }
    return handler;
}

static bool is_special(sighandler_t handler)
{
    return handler == SIG_DFL || handler == SIG_IGN || handler == SIG_HOLD || handler == SIG_ERR;
}

static bool is_kept(int number)
{
    return number == load_relaxed(&kept_fault);
}

sighandler_t handlers_door(int number, sighandler_t handler)
{
    if (handler == SIG_DFL && is_stood_for(number))
        return (sighandler_t)(void *)stand_in;
    if (is_kept(number) ? handler == SIG_DFL || handler == SIG_HOLD || handler == SIG_ERR
                        : is_special(handler) || sys_signal_is_fault(number))
        return handler;
    return (sighandler_t)find_door((void *)handler);
}

/* Most handlers of faults need no door, and may be called a million times. */
static sighandler_t door_with_flags(int number, sighandler_t handler, uint64_t flags)
{
    if (sys_signal_is_fault(number) && is_stood_for(number) && !is_special(handler) &&
        flags & (SA_ONSTACK | SA_RESETHAND))
        return (sighandler_t)find_door((void *)handler);
    return handlers_door(number, handler);
}

sighandler_t handlers_behind(sighandler_t door)
{
    if (stand_in && (void *)door == (void *)stand_in)
        return SIG_DFL;
    for (unsigned i = 0; i < DOORS && load_relaxed(&behind[i]); i++)
        if ((void *)door == (void *)doors[i])
            return (sighandler_t)behind[i];
    return door;
}

void handlers_put_door(int number, struct sigaction *given)
{
    sighandler_t handler = given->sa_handler;
    given->sa_handler = door_with_flags(number, handler, given->sa_flags);
    if (given->sa_handler == handler)
        return;
    if (handler == SIG_DFL) {
        struct handlers_default *now = &kept[number];
        uint64_t mask = all_but_faults();
        now->flags = given->sa_flags | CONTEXT_RESTORER; /* as libc would */
        memcpy(&now->mask, &given->sa_mask, sizeof now->mask);
        given->sa_flags = STAND_IN_FLAGS;
        memcpy(&given->sa_mask, &mask, sizeof mask);
    } else if (!(given->sa_flags & SA_SIGINFO)) {
        given->sa_flags |= SA_SIGINFO | INFO_UNASKED;
    }
}

void handlers_take_door(struct sigaction *given)
{
    given->sa_handler = handlers_behind(given->sa_handler);
    if (given->sa_flags & INFO_UNASKED)
        given->sa_flags &= ~(SA_SIGINFO | INFO_UNASKED);
}

struct handlers_default handlers_default_of(int number)
{
    return is_stood_for(number) ? kept[number] : (struct handlers_default){0};
}

void handlers_take_default(struct sigaction *given, struct handlers_default was)
{
    if (!stand_in || (void *)given->sa_handler != (void *)stand_in)
        return;
    given->sa_handler = SIG_DFL;
    given->sa_flags = was.flags;
    memcpy(&given->sa_mask, &was.mask, sizeof was.mask);
}

/* libc has put in what handlers_door said; what it chose for the rest is completed. */
static void complete(int number, struct sys_sigaction *now)
{
    sighandler_t handler = (sighandler_t)now->handler;
    if (is_stood_for(number) && now->handler == (uintptr_t)stand_in) {
        if ((now->flags & STAND_IN_FLAGS) != STAND_IN_FLAGS)
            put_stand_in(number, now);
        return;
    }
    if (handlers_behind(handler) == handler && sys_signal_is_fault(number))
        handler = door_with_flags(number, handler, now->flags);
    if (now->flags & SA_SIGINFO || handlers_behind(handler) == handler)
        return;
    now->handler = (uintptr_t)handler;
    now->flags |= SA_SIGINFO | INFO_UNASKED;
    sys_sigaction(number, now, NULL);
}

void handlers_complete(int number)
{
    uint64_t mask;
    struct sys_sigaction now;
    sys_signals_block(
        &mask); /* between reading and writing the one call of a handler could go by */
    if (sys_sigaction(number, NULL, &now) >= 0)
        complete(number, &now);
    sys_signals_restore(&mask);
}

void handlers_stand_in(action *handler, uint64_t signals,
                       int (*install)(int, const struct sigaction *, struct sigaction *))
{
    stand_in = handler;
    for (int number = 1; number <= SIGSYS; number++) {
        struct sigaction now;
        if (!(signals >> (number - 1) & 1))
            continue;
        or_relaxed(&stands, 1ull << (number - 1));
        if (install(number, NULL, &now) != 0 || now.sa_handler != SIG_DFL)
            continue;
        struct handlers_default was = {.flags = now.sa_flags};
        memcpy(&was.mask, &now.sa_mask, sizeof was.mask);
        handlers_put_door(number, &now);
        kept[number] = was;
        install(number, &now, NULL);
    }
}

static void adopt(int number, int (*install)(int, const struct sigaction *, struct sigaction *))
{
    struct sigaction now;
    if (install(number, NULL, &now) != 0 || handlers_behind(now.sa_handler) != now.sa_handler)
        return;
    sighandler_t handler = now.sa_handler;
    handlers_put_door(number, &now);
    if (now.sa_handler != handler)
        install(number, &now, NULL);
}

void handlers_adopt(int (*install)(int, const struct sigaction *, struct sigaction *))
{
    for (int number = 1; install && number < NSIG; number++)
        adopt(number, install);
}

void handlers_keep_fault(int number, bool (*is_ours)(const ucontext_t *),
                         int (*install)(int, const struct sigaction *, struct sigaction *))
{
    fault_is_ours = is_ours;
    store_release(&kept_fault, number);
    adopt(number, install); /* what was there before us, and is not the default */
}
