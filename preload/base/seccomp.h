/* seccomp.h - computes what a seccomp filter answers to a system call, without making the call.
 *
 * A filter is a program of classic BPF that reads {number, architecture, arguments} of the call. At
 * each system call the kernel runs all filters of the thread, and the strictest answer counts.
 */
#ifndef PRELOAD_BASE_SECCOMP_H
#define PRELOAD_BASE_SECCOMP_H

#include "preload/base/base.h"

#include <linux/filter.h>

struct seccomp_data;

/* Returns the filter's answer, such as SECCOMP_RET_ALLOW; SECCOMP_RET_KILL_PROCESS for code that
 * the kernel would not have accepted. */
uint32_t seccomp_run(const struct sock_filter *code, unsigned count,
                     const struct seccomp_data *call);

#endif
