/* tracee.c - stops, reads and changes a thread with ptrace. */
#include "attach/tracee.h"

#include <elf.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "attach/priority.h"
#include "common/base/proc.h"
#include "common/base/term_text.h"
#include "common/processes/traced_thread.h"

#ifndef PTRACE_GET_RSEQ_CONFIGURATION
#define PTRACE_GET_RSEQ_CONFIGURATION 0x420f
#endif

#define NAP_NS 1000000 /* pause between two checks of a thread, in nanoseconds */
#define YIELDS 20      /* how often a thread is checked before the first pause */

bool tracee_read(const struct tracee *tracee, uint64_t address, void *to, size_t size)
{
    return pread(tracee->memory, to, size, (off_t)address) == (ssize_t)size;
}

bool tracee_write(const struct tracee *tracee, uint64_t address, const void *from, size_t size)
{
    return pwrite(tracee->memory, from, size, (off_t)address) == (ssize_t)size;
}

/* ---- Running and stopping -------------------------------------------------------------------- */

bool tracee_seize(struct tracee *tracee, pid_t tid)
{
    tracee->tid = tid;
    tracee->stopped_ns = 0;
    return ptrace(PTRACE_SEIZE, tid, NULL, PTRACE_O_TRACESYSGOOD) == 0;
}

void tracee_continue(struct tracee *tracee, int signal)
{
    ptrace(PTRACE_SYSCALL, tracee->tid, NULL, (void *)(long)signal);
}

void tracee_go_on(struct tracee *tracee, int signal)
{
    ptrace(PTRACE_CONT, tracee->tid, NULL, (void *)(long)signal);
}

static enum tracee_event event_of(int status, int *number)
{
    if (!WIFSTOPPED(status))
        return TRACEE_GONE;
    *number = WSTOPSIG(status);
    if (status >> 16 == PTRACE_EVENT_STOP)
        return TRACEE_INTERRUPTED;
    return *number == (SIGTRAP | 0x80) ? TRACEE_SYSCALL : TRACEE_SIGNAL;
}

/* Waits until a traced thread may have stopped, for which the kernel sends SIGCHLD, or until the nap
 * is over. The signal must be blocked. */
static void await_stop(void)
{
    static const struct timespec nap = {.tv_nsec = NAP_NS};
    sigset_t stops;

    sigemptyset(&stops);
    sigaddset(&stops, SIGCHLD);
    sigtimedwait(&stops, NULL, &nap);
}

enum tracee_event tracee_wait(struct tracee *tracee, uint64_t milliseconds, int *number)
{
    uint64_t end = time_steady_ns() + milliseconds * 1000000;
    int status;

    for (unsigned looks = 0;; looks++) {
        pid_t seen = waitpid(tracee->tid, &status, __WALL | WNOHANG);

        if (seen == tracee->tid) {
            enum tracee_event event = event_of(status, number);

            tracee->at_syscall = event == TRACEE_SYSCALL;
            return event;
        }
        if (seen < 0 && errno != EINTR)
            return TRACEE_GONE;
        if (time_steady_ns() >= end)
            return TRACEE_TIMEOUT;
        if (looks < YIELDS)
            sched_yield();
        else
            await_stop();
    }
}

bool tracee_stop(struct tracee *tracee, bool stopped, uint64_t milliseconds)
{
    enum tracee_event event;
    int number = 0;

    ptrace(PTRACE_INTERRUPT, tracee->tid, NULL, NULL);
    if (stopped)
        ptrace(PTRACE_CONT, tracee->tid, NULL, NULL);
    for (;;) {
        event = tracee_wait(tracee, milliseconds, &number);
        if (event != TRACEE_SIGNAL && event != TRACEE_SYSCALL)
            break;
        /* Any stop cancels an earlier request to interrupt, so the request is made again. */
        ptrace(PTRACE_INTERRUPT, tracee->tid, NULL, NULL);
        ptrace(PTRACE_CONT, tracee->tid, NULL, (void *)(long)(event == TRACEE_SIGNAL ? number : 0));
    }
    return event == TRACEE_INTERRUPTED;
}

/* Stops the thread and reads its registers. False: it has ended, or does not stop in this time,
 * like a thread that waits for its vfork child; it then stays traced, because the kernel detaches
 * only stopped threads. */
bool tracee_interrupt(struct tracee *tracee, uint64_t milliseconds)
{
    uint64_t now = time_steady_ns();

    if (!tracee_stop(tracee, false, milliseconds) || !tracee_get_registers(tracee, &tracee->before))
        return false;
    tracee->stopped_ns = now;
    if (!tracee->raised)
        tracee->raised = priority_raise(tracee->tid, &tracee->earlier);
    return true;
}

static bool read_status(const struct tracee *tracee, char status[PROC_STATUS_SIZE])
{
    char file[64];

    snprintf(file, sizeof(file), "task/%d/status", (int)tracee->tid);
    return proc_read_text(tracee->pid, file, status, PROC_STATUS_SIZE);
}

bool tracee_has_ended(const struct tracee *tracee)
{
    char status[PROC_STATUS_SIZE];

    return !read_status(tracee, status) || proc_status_ended(status);
}

bool tracee_is_held(const struct tracee *tracee)
{
    char status[PROC_STATUS_SIZE];

    read_status(tracee, status);
    return atoi(proc_status_value(status, "TracerPid")) == getpid();
}

/* ---- Registers ------------------------------------------------------------------------------- */

bool tracee_get_registers(const struct tracee *tracee, struct user_regs_struct *registers)
{
    return ptrace(PTRACE_GETREGS, tracee->tid, NULL, registers) == 0;
}

bool tracee_set_registers(const struct tracee *tracee, const struct user_regs_struct *registers)
{
    return ptrace(PTRACE_SETREGS, tracee->tid, NULL, registers) == 0;
}

size_t tracee_get_vectors(const struct tracee *tracee, void *area)
{
    struct iovec part = {area, TRACEE_VECTOR_SIZE};

    return ptrace(PTRACE_GETREGSET, tracee->tid, (void *)NT_X86_XSTATE, &part) == 0 ? part.iov_len
                                                                                    : 0;
}

bool tracee_set_vectors(const struct tracee *tracee, const void *area, size_t size)
{
    struct iovec part = {(void *)area, size};

    return ptrace(PTRACE_SETREGSET, tracee->tid, (void *)NT_X86_XSTATE, &part) == 0;
}

bool tracee_get_mask(const struct tracee *tracee, uint64_t *mask)
{
    return ptrace(PTRACE_GETSIGMASK, tracee->tid, (void *)sizeof(*mask), mask) == 0;
}

bool tracee_set_mask(const struct tracee *tracee, uint64_t mask)
{
    return ptrace(PTRACE_SETSIGMASK, tracee->tid, (void *)sizeof(mask), &mask) == 0;
}

bool tracee_is_in_rseq(const struct tracee *tracee)
{
    struct {
        uint64_t area;
        uint32_t size, signature, flags, pad;
    } configuration = {0};
    struct {
        uint32_t version, flags;
        uint64_t start, length, abort;
    } section;
    uint64_t address = 0;

    return ptrace(PTRACE_GET_RSEQ_CONFIGURATION, tracee->tid, (void *)sizeof(configuration),
                  &configuration) == (long)sizeof(configuration) &&
           configuration.area &&
           tracee_read(tracee, configuration.area + 8, &address, sizeof(address)) && address &&
           tracee_read(tracee, address, &section, sizeof(section)) &&
           tracee->before.rip - section.start < section.length;
}

/* ---- The interrupted system call ------------------------------------------------------------- */

/* Repeats the system call that the stop has ended with EINTR; the kernel itself restarts most
 * calls if no handler runs. */
static void continue_call(struct tracee *tracee)
{
    struct user_regs_struct now = tracee->before;

    if (!traced_thread_repeat_call(&now) || traced_thread_awaits_signal(tracee->pid, tracee->tid))
        return;
    tracee_set_registers(tracee, &now);
}

void tracee_release(struct tracee *tracee)
{
    if (tracee->raised)
        priority_restore(tracee->tid, &tracee->earlier);
    tracee->raised = false;
    continue_call(tracee);
    ptrace(PTRACE_DETACH, tracee->tid, NULL, NULL);
    tracee->stopped_ns = 0;
}
