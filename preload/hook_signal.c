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
        ours.sa_handler = handlers_door(number, action->sa_handler);
    }
    int result = real.sigaction(number, action ? &ours : NULL, old);
    if (result == 0 && old)
        old->sa_handler = handlers_behind(old->sa_handler);
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

/* The older ways differ in flags only; each answers the handler before. */
#define SIGNAL(name, original)                                                                     \
    EXPORT sighandler_t name(int number, sighandler_t handler);                                    \
    EXPORT sighandler_t name(int number, sighandler_t handler)                                     \
    {                                                                                              \
        real_find();                                                                               \
        return handlers_behind(real.original(number, handlers_door(number, handler)));             \
    }

SIGNAL(signal, signal)
SIGNAL(ssignal, signal)
SIGNAL(bsd_signal, bsd_signal)
SIGNAL(sysv_signal, sysv_signal)
SIGNAL(__sysv_signal, sysv_signal)
SIGNAL(sigset, sigset)
