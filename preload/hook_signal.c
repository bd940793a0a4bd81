/* hook_signal.c - the moment the program installs its first signal handler.
 *
 * Until then no code of the program can interrupt a hook, and locks need not block signals
 * (lock.h): most programs never pay for it. Handlers of faults (gawk's for SIGSEGV) do not
 * count: a fault is never blocked, and the runtime raises none.
 */
#include "preload/lock.h"
#include "preload/real.h"
#include "preload/sys.h"

static void note(int number, sighandler_t handler)
{
    real_find();
    if (handler != SIG_DFL && handler != SIG_IGN && !sys_signal_is_fault(number))
        lock_expect_handlers();
}

EXPORT int sigaction(int number, const struct sigaction *action, struct sigaction *old)
{
    note(number, action ? action->sa_handler : SIG_DFL);
    return real.sigaction(number, action, old);
}

EXPORT sighandler_t signal(int number, sighandler_t handler)
{
    note(number, handler);
    return real.signal(number, handler);
}

EXPORT sighandler_t bsd_signal(int number, sighandler_t handler);
EXPORT sighandler_t bsd_signal(int number, sighandler_t handler)
{
    note(number, handler);
    return real.bsd_signal(number, handler);
}

EXPORT sighandler_t sysv_signal(int number, sighandler_t handler)
{
    note(number, handler);
    return real.sysv_signal(number, handler);
}

EXPORT sighandler_t sigset(int number, sighandler_t handler)
{
    note(number, handler);
    return real.sigset(number, handler);
}
