/* sandbox.h - knows which system calls the seccomp filters of this process allow.
 *
 * The kernel may kill a process that restricts itself with seccomp for a call that its filter does
 * not know, and the runtime makes system calls that the program never makes. So the macro SYSCALL
 * (sys.h) asks here before each call of the runtime. A call that the kernel would not simply
 * execute is not made: SYSCALL returns the errno of the filter, or EPERM, as if the kernel had
 * refused the call, and the runtime does without it.
 *
 * A filter that the process itself installs is known: hook_sandbox.c copies it before, and each
 * later call is checked by running the copy with the arguments of the call. A filter from before
 * exec cannot be read. In that case a child process makes each call of system_calls.def once, in a
 * way that has no effect; the process does not make calls that kill the child. The child is made
 * only where the filters are known to allow it: the parent process has the same filters, so this
 * process was made under them; or this is the first process of a container, whose filters answer
 * with errors; or the program itself has made a thread or a child. Until then the process makes
 * none of these calls.
 *
 * Filters belong to threads, but the answers here are for all threads of the process: a call is
 * made only if no filter of any thread would refuse it.
 */
#ifndef PRELOAD_BASE_SANDBOX_H
#define PRELOAD_BASE_SANDBOX_H

#include "preload/base/base.h"

#include <linux/filter.h>
#include <sys/syscall.h>
/* Older headers do not define these calls, and older kernels refuse them. New calls have the same
 * number on all CPUs. */
#ifndef SYS_close_range
#define SYS_close_range 436 /* Linux 5.9 */
#endif
#ifndef SYS_faccessat2
#define SYS_faccessat2 439 /* Linux 5.8 */
#endif

/* True if some call may be refused. The macro SYSCALL reads it; only sandbox.c writes it. */
extern bool sandbox_restricts HIDDEN;

struct sandbox_call {
    long number;
    uint64_t argument[6];
};

/* Returns the errno with which the call must fail. 0: the kernel would execute the call in every
 * thread, so it may be made. */
int sandbox_refusal(const struct sandbox_call *call);
static inline bool sandbox_allows(const struct sandbox_call *call)
{
    return sandbox_refusal(call) == 0;
}

/* ---- Restrictions that the process itself installs ------------------------------------------- */

struct sandbox_filter {
    struct sandbox_filter *next;
    unsigned count;
    bool installed; /* false: the kernel did not accept the filter */
    struct sock_filter code[];
};

bool sandbox_filter_allows(const struct sandbox_filter *filter, const struct sandbox_call *call);
/* Allocates a filter, whose code the caller writes. NULL: no memory. */
struct sandbox_filter *sandbox_new_filter(unsigned count);
/* Adds a filter that applies to all calls from here on. If the filter refuses mmap, sandbox_install
 * first maps memory that may be needed later (sandbox_reserve). */
void sandbox_install(struct sandbox_filter *filter);
/* Ends the effect of a filter that sandbox_install has added, because the kernel has not accepted
 * it. */
void sandbox_remove(struct sandbox_filter *filter);
/* Restricts calls to read, write, exit and the return from signal handlers. Used for
 * SECCOMP_MODE_STRICT, and when the program installs a filter that cannot be copied. */
void sandbox_install_strict(void);
void sandbox_remove_strict(void);

/* Finds out which calls a filter that the process inherited allows. Call it at the start, before
 * other system calls. */
void sandbox_probe_inherited(void);
/* Notes that the program has made a thread or a child, so that inherited filters are known to allow
 * a child. */
void sandbox_note_child(void);

/* Returns zeroed memory that was taken before a filter could refuse mmap. NULL: none is left. */
void *sandbox_reserve(size_t size);

#endif
