/* traced_thread.h - what a tracer must do itself after it stopped a thread for a moment.
 *
 * A stop ends a blocking system call. The kernel restarts most calls if no signal handler ran,
 * but some return EINTR instead (signal(7)). Without the tracer the program would not have seen
 * that EINTR, so the tracer restarts these calls. */
#ifndef COMMON_PROCESSES_TRACED_THREAD_H
#define COMMON_PROCESSES_TRACED_THREAD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

#ifdef __riscv /* glibc has an empty sys/user.h for riscv */
#include <asm/ptrace.h>
#endif

/* Lets a stopped thread repeat a system call that the stop ended with EINTR, by a change of its
 * registers. False: the registers show no such call. Works on x86-64 only: on other CPUs the
 * result has replaced the first argument. */
bool traced_thread_repeat_call(struct user_regs_struct *registers);

/* The registers of a thread of a 32-bit program (i386), in the kernel's order. */
enum thread_register_32 {
    REGISTER_32_BX,
    REGISTER_32_AX = 6,
    REGISTER_32_GS = 10,
    REGISTER_32_CALL, /* number of the system call; -1: the thread is in no call */
    REGISTER_32_IP,
    REGISTER_32_SP = 15,
    REGISTERS_32 = 17
};
/* Does for a thread of a 32-bit program what traced_thread_repeat_call() does. */
bool traced_thread_repeat_call_32(uint32_t registers[REGISTERS_32]);

/* Says whether a signal that the thread does not block is pending, so that its system call would
 * end with EINTR anyway. True also when /proc does not show the thread's signals. */
bool traced_thread_awaits_signal(pid_t pid, pid_t tid);

/* Says whether a signal for a fault of the stopped thread itself (SIGSEGV, for example) is
 * pending. */
bool traced_thread_has_faulted(pid_t pid, pid_t tid);

#endif
