/* tracee.h - one thread of another process, traced with ptrace.
 *
 *     seize -> interrupt -> (stopped: registers, calls) -> release
 *
 * Only this thread is stopped; all others run. The stop may end a blocking system call;
 * tracee_release repeats the call, so that the program sees no EINTR. If leakctl dies, the kernel
 * releases the thread. */
#ifndef ATTACH_TRACEE_H
#define ATTACH_TRACEE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

#include "attach/priority.h"

#define TRACEE_VECTOR_SIZE 16384 /* bytes for the XSAVE area of any x86-64 CPU so far */

struct tracee {
    pid_t pid, tid;
    int memory;  /* descriptor of /proc/PID/mem */
    bool raised; /* the thread has the highest priority until it is released; earlier has the one
                  * before */
    struct priority earlier;
    uint64_t stopped_ns;            /* time of the last interrupt, by CLOCK_MONOTONIC; 0: the
                                     * thread runs */
    bool at_syscall;                /* the last stop was at a system call */
    struct user_regs_struct before; /* registers at the last interrupt */
};

enum tracee_event {
    TRACEE_TIMEOUT,     /* the thread still runs */
    TRACEE_INTERRUPTED, /* stopped by tracee_interrupt, or by a stop of its process */
    TRACEE_SYSCALL,     /* stopped at the beginning or the end of a system call */
    /* stopped because a signal is about to be delivered; its number is in *number */
    TRACEE_SIGNAL,
    TRACEE_GONE
};

/* Read or write memory of the process. False: not all bytes could be read or written. */
bool tracee_read(const struct tracee *tracee, uint64_t address, void *to, size_t size);
bool tracee_write(const struct tracee *tracee, uint64_t address, const void *from, size_t size);

/* Seizes a thread with ptrace; the memory of the process must be open. False: errno says why. */
bool tracee_seize(struct tracee *tracee, pid_t tid);

/* Says whether the thread has ended. The kernel then refuses ptrace with EPERM, as for a thread that
 * may not be traced. */
bool tracee_has_ended(const struct tracee *tracee);

/* Says whether this process traces the thread already, as it does after a stop that failed. */
bool tracee_is_held(const struct tracee *tracee);

/* Stops the thread; a signal that is about to be delivered is delivered first. stopped: says that
 * the thread is already stopped, by a signal or at a system call; it then executes nothing more
 * before this stop. False: it has not stopped in that time, or has ended. */
bool tracee_stop(struct tracee *tracee, bool stopped, uint64_t milliseconds);

/* Stops the thread like tracee_stop(), and stores its registers in `before`. */
bool tracee_interrupt(struct tracee *tracee, uint64_t milliseconds);

/* Continues a stopped thread until its next system call begins or ends. signal: 0 = none. */
void tracee_continue(struct tracee *tracee, int signal);
/* Lets the thread run, with a signal to deliver (0 = none), until its next signal, its end, or
 * tracee_stop(). */
void tracee_go_on(struct tracee *tracee, int signal);
enum tracee_event tracee_wait(struct tracee *tracee, uint64_t milliseconds, int *number);

bool tracee_get_registers(const struct tracee *tracee, struct user_regs_struct *registers);
bool tracee_set_registers(const struct tracee *tracee, const struct user_regs_struct *registers);

/* Reads the FP and vector registers in the XSAVE format. Returns their size, 0 = failed. */
size_t tracee_get_vectors(const struct tracee *tracee, void *area);
bool tracee_set_vectors(const struct tracee *tracee, const void *area, size_t size);

bool tracee_get_mask(const struct tracee *tracee, uint64_t *mask);
bool tracee_set_mask(const struct tracee *tracee, uint64_t mask);

/* Says whether the thread is in a restartable sequence (rseq), which may not go on after other
 * code has run in the thread. */
bool tracee_is_in_rseq(const struct tracee *tracee);

/* Releases a stopped thread, which goes on as before; an interrupted system call is repeated. */
void tracee_release(struct tracee *tracee);

#endif
