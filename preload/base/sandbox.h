/* sandbox.h - which system calls the kernel lets this process make.
 *
 * A process that restricts itself with seccomp may be killed for a call that its filter does not
 * know, and the runtime makes calls that the program never makes. So each call of the runtime
 * (SYSCALL, sys.h) asks here first. One that the kernel would not simply execute is not made: it
 * fails with the filter's errno, or EPERM, as if the kernel had refused it, and what needs it is
 * left out.
 *
 * A filter that the process installs is known: it is copied before (hook_sandbox.c), and run for
 * each later call with that call's arguments. A filter from before exec cannot be read. There a
 * child makes each call of system_calls.def once, in a way that has no effect; those that kill the
 * child are not made in the process. The child is made only where that is known to be allowed: the
 * parent process has the same filters, so this process was made under them; the first process of a
 * container, whose filters answer with errors; or the program itself has made a thread or a child.
 * Until then none of these calls is made.
 *
 * Filters belong to threads, but the answers here are those for all filters of the process: a call
 * is made if no thread would be killed for it.
 */
#ifndef PRELOAD_BASE_SANDBOX_H
#define PRELOAD_BASE_SANDBOX_H

#include "preload/base/base.h"

#include <linux/filter.h>
#include <sys/syscall.h>
/* Older headers lack them, older kernels refuse them. New calls have one number on all CPUs. */
#ifndef SYS_close_range
#define SYS_close_range 436 /* Linux 5.9 */
#endif
#ifndef SYS_faccessat2
#define SYS_faccessat2 439 /* Linux 5.8 */
#endif

/* True if some call may be refused. Each call reads it; do not write it. */
extern bool sandbox_restricts HIDDEN;

struct sandbox_call {
    long number;
    uint64_t argument[6];
};

/* The errno with which the call must fail. 0: it may be made; the kernel would simply execute it,
 * for every thread. */
int sandbox_refusal(const struct sandbox_call *call);
static inline bool sandbox_allows(const struct sandbox_call *call)
{
    return sandbox_refusal(call) == 0;
}

/* ---- Restrictions --------------------------------------------------------------------------- */

struct sandbox_filter {
    struct sandbox_filter *next;
    unsigned count;
    bool installed; /* false: the kernel did not accept it */
    struct sock_filter code[];
};

bool sandbox_filter_allows(const struct sandbox_filter *filter, const struct sandbox_call *call);
/* Room for a filter, whose code the caller writes; NULL: no memory. */
struct sandbox_filter *sandbox_new_filter(unsigned count);
/* Prepares for a filter that counts from here on: takes memory that may be needed later, and that
 * the filter would refuse. */
void sandbox_install(struct sandbox_filter *filter);
/* The kernel has not accepted the filter. */
void sandbox_remove(struct sandbox_filter *filter);
/* Nothing but read, write, exit and the return from handlers (SECCOMP_MODE_STRICT), or a filter
 * that cannot be copied. */
void sandbox_install_strict(void);
void sandbox_remove_strict(void);

/* Finds what a filter that the process inherited allows. Call it at the start, before other
 * calls. */
void sandbox_probe_inherited(void);
/* The program has made a thread or a child. */
void sandbox_note_child(void);

/* Memory that was taken before it could be refused; zeroed; NULL: none is left. */
void *sandbox_reserve(size_t size);

#endif
