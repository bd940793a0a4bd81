/* seccomp.h - what a seccomp filter says to a system call, without making the call.
 *
 * Filters are programs of classic BPF over {number, architecture, arguments}. The kernel runs all
 * filters of a thread at each call, and the strictest answer counts.
 */
#ifndef PRELOAD_BASE_SECCOMP_H
#define PRELOAD_BASE_SECCOMP_H

#include "preload/base/base.h"

#include <linux/filter.h>

struct seccomp_data;

/* The filter's answer, SECCOMP_RET_ALLOW or another; SECCOMP_RET_KILL_PROCESS for code that the
 * kernel would not have accepted. */
uint32_t seccomp_run(const struct sock_filter *code, unsigned count,
                     const struct seccomp_data *call);

#endif
