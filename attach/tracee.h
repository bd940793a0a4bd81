/* tracee.h - one thread of another process, held with ptrace.
 *
 *     seize -> interrupt -> (stopped: registers, calls) -> release
 *
 * Only this thread is stopped, all others run on. A stop by interrupt ends a blocking system call
 * early; tracee_release makes the thread continue it, so that the program sees no EINTR. When
 * leakctl dies the kernel releases the thread.
 */
#ifndef ATTACH_TRACEE_H
#define ATTACH_TRACEE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

#define TRACEE_VECTOR_SIZE 16384 /* of the XSAVE area of any x86-64 CPU so far */

struct tracee {
    pid_t pid, tid;
    int memory;                     /* /proc/PID/mem */
    uint64_t stopped_ns;            /* CLOCK_MONOTONIC, of the last interrupt; 0: it runs */
    struct user_regs_struct before; /* as interrupt found them */
};

enum tracee_event {
    TRACEE_TIMEOUT,     /* it still runs */
    TRACEE_INTERRUPTED, /* by tracee_interrupt, or by a stop of its process */
    TRACEE_SYSCALL,     /* at the beginning or the end of a system call */
    TRACEE_SIGNAL,      /* a signal is about to be delivered: *number */
    TRACEE_GONE
};

/* The memory of a process; false: not all could be read or written. */
bool tracee_read(const struct tracee *tracee, uint64_t address, void *to, size_t size);
bool tracee_write(const struct tracee *tracee, uint64_t address, const void *from, size_t size);

/* Seizes a thread with ptrace; the memory of the process must be open. False: errno says why. */
bool tracee_seize(struct tracee *tracee, pid_t tid);

/* Does this process hold the thread already? One that could not be stopped stays held. */
bool tracee_is_held(const struct tracee *tracee);

/* Stops the thread; a signal on its way is delivered first. stopped: it is stopped in another way, and
 * executes nothing until this stop. False: it has not stopped within that time, or has ended. */
bool tracee_stop(struct tracee *tracee, bool stopped, uint64_t milliseconds);

/* The same, and fills before. */
bool tracee_interrupt(struct tracee *tracee, uint64_t milliseconds);

/* Continues a stopped thread until its next system call begins or ends. signal: 0 = none. */
void tracee_continue(struct tracee *tracee, int signal);
/* Lets the thread run, with a signal to deliver (0 = none), until its next signal, its end, or
 * tracee_stop. */
void tracee_go_on(struct tracee *tracee, int signal);
enum tracee_event tracee_wait(struct tracee *tracee, uint64_t milliseconds, int *number);

bool tracee_get_registers(const struct tracee *tracee, struct user_regs_struct *registers);
bool tracee_set_registers(const struct tracee *tracee, const struct user_regs_struct *registers);

/* FP and vector registers in the XSAVE format. Returns the size, 0 = failed. */
size_t tracee_get_vectors(const struct tracee *tracee, void *area);
bool tracee_set_vectors(const struct tracee *tracee, const void *area, size_t size);

bool tracee_get_mask(const struct tracee *tracee, uint64_t *mask);
bool tracee_set_mask(const struct tracee *tracee, uint64_t mask);

/* Is the thread in a restartable sequence (rseq), which the kernel must see interrupted? */
bool tracee_is_in_rseq(const struct tracee *tracee);

/* The thread, stopped by an interrupt, goes on as before; its interrupted call is continued. */
void tracee_release(struct tracee *tracee);

#endif
