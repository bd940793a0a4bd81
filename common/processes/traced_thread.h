/* traced_thread.h - what ptrace leaves to those who stop a thread for a moment.
 *
 * A stop ends a blocking system call. The kernel itself continues most calls when no handler of a
 * signal runs; some return EINTR instead (signal(7)), which the program would not have seen. */
#ifndef COMMON_PROCESSES_TRACED_THREAD_H
#define COMMON_PROCESSES_TRACED_THREAD_H

#include <stdbool.h>
#include <sys/types.h>
#include <sys/user.h>

#ifdef __riscv /* glibc has an empty sys/user.h there */
#include <asm/ptrace.h>
#endif

/* Changes the registers of a stopped thread whose call the stop has ended with EINTR: so that it makes
 * the call again. False: nothing is to be changed. Only on x86-64; elsewhere the first argument is
 * gone where the result stands. */
bool traced_thread_repeat_call(struct user_regs_struct *registers);

/* Says whether a signal waits that the thread does not block, so that its call ends with EINTR
 * because of that signal. True also when this is not known. */
bool traced_thread_awaits_signal(pid_t pid, pid_t tid);

/* The signal of a fault of its own waits to be handled by the stopped thread. */
bool traced_thread_has_faulted(pid_t pid, pid_t tid);

#endif
