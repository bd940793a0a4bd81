/* hook_signal.c - installing a signal handler: the kernel gets a door, the program sees its own.
 *
 * Why: handlers.h. Everything else is libc's doing, errno included.
 */
#include "preload/handlers.h"
#include "preload/real.h"

static int act(int number, const struct sigaction *action, struct sigaction *old)
{
    struct sigaction ours;
    real_find();
    if (action) {
        ours = *action;
        handlers_put_door(number, &ours);
    }
    int result = real.sigaction(number, action ? &ours : NULL, old);
    if (result == 0 && old)
        handlers_take_door(old);
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
        sighandler_t old = real.original(number, handlers_door(number, handler));                  \
        if (old != SIG_ERR)                                                                        \
            handlers_complete(number);                                                             \
        return handlers_behind(old);                                                               \
    }

SIGNAL(signal, signal)
SIGNAL(ssignal, signal)
SIGNAL(bsd_signal, bsd_signal)
SIGNAL(sysv_signal, sysv_signal)
SIGNAL(__sysv_signal, sysv_signal)
SIGNAL(sigset, sigset)
