/* hook_signal.c - the moment the program installs its first signal handler.
 *
 * Until then no code of the program can interrupt a hook, and locks need not block signals
 * (lock.h): most programs never pay for it.
 */
#include "preload/lock.h"
#include "preload/real.h"

static void note(sighandler_t handler)
{
    real_find();
    if (handler != SIG_DFL && handler != SIG_IGN)
        lock_expect_handlers();
}

EXPORT int sigaction(int number, const struct sigaction *action, struct sigaction *old)
{
    note(action ? action->sa_handler : SIG_DFL);
    return real.sigaction(number, action, old);
}

EXPORT sighandler_t signal(int number, sighandler_t handler)
{
    note(handler);
    return real.signal(number, handler);
}

EXPORT sighandler_t bsd_signal(int number, sighandler_t handler);
EXPORT sighandler_t bsd_signal(int number, sighandler_t handler)
{
    note(handler);
    return real.bsd_signal(number, handler);
}

EXPORT sighandler_t sysv_signal(int number, sighandler_t handler)
{
    note(handler);
    return real.sysv_signal(number, handler);
}

EXPORT sighandler_t sigset(int number, sighandler_t handler)
{
    note(handler);
    return real.sigset(number, handler);
}
