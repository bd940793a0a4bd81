/* hook_signal.c - installing a signal handler: the kernel gets a door, the program sees its own.
 *
 * Why: signal_trampoline.h. Everything else is libc's doing, errno included.
 */
#include "preload/signals/altstack.h"
#include "preload/signals/signal_trampoline.h"
#include "preload/signals/stop_the_world.h"
#include "preload/interpose/real_functions.h"

/* What the program would have done at our own number. */
static struct sigaction programs_own;

static int act_on_ours(const struct sigaction *action, struct sigaction *old)
{
    struct sigaction before = programs_own;
    if (action) {
        programs_own = *action;
        bool handled = action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN;
        park_give_others(handled ? action->sa_sigaction : NULL, action->sa_handler == SIG_IGN);
    }
    if (old)
        *old = before;
    return 0;
}

static int act(int number, const struct sigaction *action, struct sigaction *old)
{
    struct sigaction ours;
    real_find();
    if (number == park_signal() && number)
        return act_on_ours(action, old);
    struct handlers_default was = handlers_default_of(number);
    if (action) {
        ours = *action;
        if (park_signal())
            sigdelset(&ours.sa_mask, park_signal());
        if (handlers_kept_fault())
            sigdelset(&ours.sa_mask, handlers_kept_fault());
        handlers_put_door(number, &ours);
    }
    int result = real.sigaction(number, action ? &ours : NULL, old);
    if (result == 0 && old) {
        handlers_take_default(old, was);
        handlers_take_door(old);
    }
    return result;
}

EXPORT int sigaction(int number, const struct sigaction *action, struct sigaction *old)
{
    return act(number, action, old);
}

EXPORT int __sigaction(int number, const struct sigaction *action, struct sigaction *old);
EXPORT int __sigaction(int number, const struct sigaction *action, struct sigaction *old)
{
    return act(number, action, old);
}

/* The older ways differ in flags, which libc knows; each answers the handler before. */
#define SIGNAL(name, original)                                                                     \
    EXPORT sighandler_t name(int number, sighandler_t handler);                                    \
    EXPORT sighandler_t name(int number, sighandler_t handler)                                     \
    {                                                                                              \
        real_find();                                                                               \
        if (number == park_signal() && number) {                                                   \
            struct sigaction action = {.sa_handler = handler}, old;                                \
            act_on_ours(&action, &old);                                                            \
            return old.sa_handler;                                                                 \
        }                                                                                          \
        sighandler_t old = real.original(number, handlers_door(number, handler));                  \
        if (old != SIG_ERR)                                                                        \
            handlers_complete(number);                                                             \
        return handlers_behind(old);                                                               \
    }

/* A program that has no alternate stack sees none, and may not stand on ours. */
EXPORT int sigaltstack(const stack_t *restrict stack, stack_t *restrict old)
{
    real_find();
    return altstack_change(stack, old);
}

SIGNAL(signal, signal)
SIGNAL(ssignal, signal)
SIGNAL(bsd_signal, bsd_signal)
SIGNAL(sysv_signal, sysv_signal)
SIGNAL(__sysv_signal, sysv_signal)
SIGNAL(sigset, sigset)
