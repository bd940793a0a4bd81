/* traced_thread.c - repeats system calls that a ptrace stop ended, and reads pending signals. */
#include "common/processes/traced_thread.h"

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>

#include "common/base/proc.h"

#if defined(__x86_64__)

#define SYSCALL_LENGTH 2 /* bytes of the instruction "syscall" */

/* Says whether a system call returns EINTR after a stop although no handler has run: signal(7)
 * lists these. */
static bool ends_when_stopped(uint64_t call)
{
    switch (call) {
    case SYS_epoll_wait:
    case SYS_epoll_pwait:
#ifdef SYS_epoll_pwait2
    case SYS_epoll_pwait2:
#endif
    case SYS_rt_sigtimedwait:
    case SYS_semop:
    case SYS_semtimedop:
    case SYS_io_getevents:
    case SYS_read: /* of an inotify descriptor */
    case SYS_readv:
    case SYS_write:
    case SYS_msgrcv:
    case SYS_msgsnd:
    case SYS_accept: /* this and the following: on a socket with a timeout */
    case SYS_accept4:
    case SYS_recvfrom:
    case SYS_recvmsg:
    case SYS_recvmmsg:
    case SYS_sendto:
    case SYS_sendmsg:
    case SYS_sendmmsg:
        return true;
    default:
        return false;
    }
}

bool traced_thread_repeat_call(struct user_regs_struct *registers)
{
    if ((int64_t)registers->orig_rax < 0 || (int64_t)registers->rax != -EINTR ||
        !ends_when_stopped(registers->orig_rax))
        return false;
    registers->rax = registers->orig_rax;
    registers->orig_rax = (uint64_t)-1;
    registers->rip -= SYSCALL_LENGTH;
    return true;
}

#else

bool traced_thread_repeat_call(struct user_regs_struct *registers)
{
    (void)registers;
    return false;
}

#endif

static uint64_t signals_of(const char *status, const char *name)
{
    return strtoull(proc_status_value(status, name), NULL, 16);
}

bool traced_thread_has_faulted(pid_t pid, pid_t tid)
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGSYS};
    char file[64], status[PROC_STATUS_SIZE];
    uint64_t pending;

    snprintf(file, sizeof(file), "task/%d/status", (int)tid);
    if (!proc_read_text(pid, file, status, sizeof(status)))
        return false;
    pending = signals_of(status, "SigPnd");
    for (size_t i = 0; i < sizeof(faults) / sizeof(*faults); i++)
        if (pending >> (faults[i] - 1) & 1)
            return true;
    return false;
}

bool traced_thread_awaits_signal(pid_t pid, pid_t tid)
{
    char file[64], status[PROC_STATUS_SIZE];

    snprintf(file, sizeof(file), "task/%d/status", (int)tid);
    if (!proc_read_text(pid, file, status, sizeof(status)) || !*proc_status_value(status, "SigBlk"))
        return true;
    return (signals_of(status, "SigPnd") | signals_of(status, "ShdPnd")) &
           ~signals_of(status, "SigBlk");
}
