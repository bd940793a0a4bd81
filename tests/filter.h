/* filter.h - for tests: from here on the kernel refuses some system calls of the process, as old ones and sandboxes do.
 *
 *     if (!FILTER_SET(FILTER_REFUSE(SYS_memfd_create, EPERM), FILTER_REFUSE(SYS_ptrace, EPERM)))
 *         return 1; // there are no filters here (qemu-user)
 *
 * A rule is one or more instructions. They see the call's number, and what no rule returns for is allowed.
 */
#ifndef TESTS_FILTER_H
#define TESTS_FILTER_H

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#define FILTER_LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define FILTER_RETURN(what) BPF_STMT(BPF_RET | BPF_K, (what))
#define FILTER_UNLESS(value, over) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), 0, (over))
#define FILTER_REFUSE(call, error)                                                                 \
    FILTER_UNLESS(call, 1), FILTER_RETURN(SECCOMP_RET_ERRNO | (error))

#define FILTER_SET(...)                                                                            \
    ({                                                                                             \
        struct sock_filter filter_code[] = {FILTER_LOAD(nr), __VA_ARGS__,                          \
                                            FILTER_RETURN(SECCOMP_RET_ALLOW)};                     \
        filter_set(filter_code, sizeof(filter_code) / sizeof(*filter_code));                       \
    })

static inline bool filter_set(struct sock_filter *code, size_t count)
{
    struct sock_fprog program = {(unsigned short)count, code};

    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

#endif
