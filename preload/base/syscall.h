/* syscall.h - one system call, by its number and up to six arguments; what the kernel returns.
 */
#ifndef PRELOAD_BASE_SYSCALL_H
#define PRELOAD_BASE_SYSCALL_H

#include "arch.h"

#include <sys/syscall.h>

#define CALL(number, ...) CALL_(number, ##__VA_ARGS__, 0, 0, 0, 0, 0, 0)
#define CALL_(number, a, b, c, d, e, f, ...)                                                       \
    arch_syscall(number, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))

#endif
