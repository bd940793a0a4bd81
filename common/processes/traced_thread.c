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

#ifndef SYS_io_uring_enter
#define SYS_io_uring_enter 426 /* exists since Linux 5.1 */
#endif
#define SYSCALL_LENGTH 2 /* bytes of the instruction "syscall" */

/* Says whether a system call returns EINTR after a stop although no handler has run: signal(7)
 * lists the calls that do. */
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
    case SYS_io_uring_enter: /* ends with EINTR only if the call has submitted nothing */
    case SYS_read:           /* ends with EINTR only if it reads an inotify descriptor */
    case SYS_readv:
    case SYS_write:
    case SYS_msgrcv:
    case SYS_msgsnd:
    case SYS_writev:
    case SYS_connect: /* may be repeated: the call then waits for the same connection */
    case SYS_accept:  /* accept and the calls below end with EINTR if the socket has a timeout */
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

/* Numbers of system calls of 32-bit programs that a stop may end with EINTR, or that make such a
 * call. */
enum call_32 {
    CALL_32_READ = 3,
    CALL_32_WRITE = 4,
    CALL_32_SOCKET = 102, /* makes any call of sockets, by a number in its first argument */
    CALL_32_IPC = 117,    /* makes any call of System V IPC, by a number in its first argument */
    CALL_32_READV = 145,
    CALL_32_WRITEV = 146,
    CALL_32_SIGTIMEDWAIT = 177,
    CALL_32_GETEVENTS = 247,
    CALL_32_EPOLL_WAIT = 256,
    CALL_32_EPOLL_PWAIT = 319,
    CALL_32_RECVMMSG = 337,
    CALL_32_SENDMMSG = 345,
    CALL_32_CONNECT = 362,
    CALL_32_ACCEPT4 = 364,
    CALL_32_SENDTO = 369,
    CALL_32_SENDMSG = 370,
    CALL_32_RECVFROM = 371,
    CALL_32_RECVMSG = 372,
    CALL_32_MSGSND = 400,
    CALL_32_MSGRCV = 401,
    CALL_32_RECVMMSG_TIME64 = 417,
    CALL_32_SEMTIMEDOP_TIME64 = 420,
    CALL_32_SIGTIMEDWAIT_TIME64 = 421,
    CALL_32_IO_URING_ENTER = 426,
    CALL_32_EPOLL_PWAIT2 = 441
};

static bool is_among(const int *numbers, size_t count, uint32_t number)
{
    for (size_t i = 0; i < count; i++)
        if ((uint32_t)numbers[i] == number)
            return true;
    return false;
}
#define IS_AMONG(numbers, number) is_among(numbers, sizeof(numbers) / sizeof(*(numbers)), number)

static bool ends_when_stopped_32(uint32_t call, uint32_t which)
{
    static const int calls[] = {CALL_32_READ,
                                CALL_32_WRITE,
                                CALL_32_READV,
                                CALL_32_WRITEV,
                                CALL_32_CONNECT,
                                CALL_32_IO_URING_ENTER,
                                CALL_32_SIGTIMEDWAIT,
                                CALL_32_GETEVENTS,
                                CALL_32_EPOLL_WAIT,
                                CALL_32_EPOLL_PWAIT,
                                CALL_32_RECVMMSG,
                                CALL_32_SENDMMSG,
                                CALL_32_ACCEPT4,
                                CALL_32_SENDTO,
                                CALL_32_SENDMSG,
                                CALL_32_RECVFROM,
                                CALL_32_RECVMSG,
                                CALL_32_MSGSND,
                                CALL_32_MSGRCV,
                                CALL_32_RECVMMSG_TIME64,
                                CALL_32_SEMTIMEDOP_TIME64,
                                CALL_32_SIGTIMEDWAIT_TIME64,
                                CALL_32_EPOLL_PWAIT2};
    /* The numbers by which CALL_32_SOCKET knows connect, accept, send, recv, sendto, recvfrom,
     * sendmsg, recvmsg, accept4, recvmmsg and sendmmsg. */
    static const int of_sockets[] = {3, 5, 9, 10, 11, 12, 16, 17, 18, 19, 20};
    /* The numbers by which CALL_32_IPC knows semop, semtimedop, msgsnd and msgrcv. */
    static const int of_ipc[] = {1, 4, 11, 12};

    if (call == CALL_32_SOCKET)
        return IS_AMONG(of_sockets, which);
    if (call == CALL_32_IPC)
        return IS_AMONG(of_ipc, which & 0xffff);
    return IS_AMONG(calls, call);
}

bool traced_thread_repeat_call_32(uint32_t registers[REGISTERS_32])
{
    if ((int32_t)registers[REGISTER_32_CALL] < 0 || (int32_t)registers[REGISTER_32_AX] != -EINTR ||
        !ends_when_stopped_32(registers[REGISTER_32_CALL], registers[REGISTER_32_BX]))
        return false;
    registers[REGISTER_32_AX] = registers[REGISTER_32_CALL];
    registers[REGISTER_32_CALL] = (uint32_t)-1;
    /* Sets the thread back to its instruction "int 0x80", which is as long as "syscall". A thread
     * that used sysenter in the vDSO also continues behind an "int 0x80". */
    registers[REGISTER_32_IP] -= SYSCALL_LENGTH;
    return true;
}

#else

bool traced_thread_repeat_call_32(uint32_t registers[REGISTERS_32])
{
    (void)registers;
    return false;
}

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
