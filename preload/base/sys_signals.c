/* sys_signals.c - signals, for sys.h: masks, actions, stacks, those that are sent and those that
 * wait. */
#include "preload/base/syscall.h"
#include "preload/base/sys.h"

#include <time.h>

bool sys_on_signal_stack(uintptr_t *low, uintptr_t *high)
{
    stack_t stack;
    if (CALL(SYS_sigaltstack, 0, &stack) < 0 || !(stack.ss_flags & SS_ONSTACK))
        return false;
    *low = (uintptr_t)stack.ss_sp;
    *high = *low + stack.ss_size;
    return true;
}

int sys_signal_stack(const stack_t *stack, stack_t *old)
{
    return CALL(SYS_sigaltstack, stack, old);
}

static const uint64_t faults = 1ull << (SIGSEGV - 1) | 1ull << (SIGBUS - 1) | 1ull << (SIGFPE - 1) |
                               1ull << (SIGILL - 1) | 1ull << (SIGTRAP - 1) | 1ull << (SIGSYS - 1);

bool sys_signal_is_fault(int number)
{
    return number > 0 && number <= 64 && faults >> (number - 1) & 1;
}

/* All but the signals that a fault raises: blocking those would turn a bug into a silent kill. */
void sys_signals_block(uint64_t *saved)
{
    uint64_t all = ~faults;
    CALL(SYS_rt_sigprocmask, SIG_SETMASK, &all, saved, sizeof all);
}

void sys_signals_restore(const uint64_t *saved)
{
    CALL(SYS_rt_sigprocmask, SIG_SETMASK, saved, 0, sizeof *saved);
}

int sys_action(int number, const struct sys_action *action, struct sys_action *old)
{
    return CALL(SYS_rt_sigaction, number, action, old, sizeof action->mask);
}

int sys_signal_thread(int tid, int number, const siginfo_t *info)
{
    return CALL(SYS_rt_tgsigqueueinfo, sys_getpid(), tid, number, info);
}

int sys_signal_self(int number, const siginfo_t *info)
{
    return CALL(SYS_rt_tgsigqueueinfo, sys_getpid(), sys_gettid(), number, info);
}

void sys_trap(void)
{
    siginfo_t info;
    memset(&info, 0, sizeof info);
    info.si_signo = SIGTRAP;
    info.si_code = SI_TKILL;
    info.si_pid = sys_getpid();
    info.si_uid = sys_geteuid();
    sys_signal_self(SIGTRAP, &info);
}

int sys_signal_take(int number, siginfo_t *info)
{
    uint64_t set = 1ull << (number - 1);
    struct timespec now = {0, 0};
    return CALL(SYS_rt_sigtimedwait, &set, info, &now, sizeof set);
}

uint64_t sys_signals_pending(void)
{
    uint64_t pending = 0;
    CALL(SYS_rt_sigpending, &pending, sizeof pending);
    return pending;
}

/* ---- Timers, which send one ----------------------------------------------------------------- */

int sys_timer(int signal, int value)
{
    struct sigevent event;
    int timer;
    memset(&event, 0, sizeof event);
    event.sigev_notify = SIGEV_SIGNAL;
    event.sigev_signo = signal;
    event.sigev_value.sival_int = value;
    long result = CALL(SYS_timer_create, CLOCK_MONOTONIC, &event, &timer);
    return result < 0 ? (int)result : timer;
}

void sys_timer_set(int timer, uint64_t first, uint64_t every)
{
    struct itimerspec time = {.it_value = {first / 1000000000u, first % 1000000000u},
                              .it_interval = {every / 1000000000u, every % 1000000000u}};
    CALL(SYS_timer_settime, timer, 0, &time, 0);
}
