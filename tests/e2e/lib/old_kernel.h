/* old_kernel.h - the calls that a kernel from 5.4 on, or a container with an old list of calls, may lack: each of them alone,
 * and all that are newer than 5.4.
 *
 *     t rows                     prints their names
 *     t under ROW COMMAND ...    executes it where those calls fail
 */
#ifndef TESTS_E2E_OLD_KERNEL_H
#define TESTS_E2E_OLD_KERNEL_H

#include "../../filter.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef SYS_close_range
#define SYS_close_range 436
#endif
#ifndef SYS_faccessat2
#define SYS_faccessat2 439
#endif
#define FIRST_CALL_SINCE_5_4 436 /* close_range; calls have one number on all CPUs from 424 on */
#define FIRST_ADVICE_SINCE_5_4 22 /* MADV_POPULATE_READ */
#define FIRST_REQUEST_SINCE_5_4 0x420f /* PTRACE_GET_RSEQ_CONFIGURATION */
#define CET_REQUESTS 0x5001

#define FAIL(error) FILTER_RETURN(SECCOMP_RET_ERRNO | (error))
#define ARGUMENT(number)                                                                           \
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args) + 8 * (number))
#define LESS(value, over) BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, (value), 0, (over))
/* A call whose argument is at least that. */
#define FROM(call, argument, value, error)                                                         \
    FILTER_UNLESS(call, 4), ARGUMENT(argument), LESS(value, 1), FAIL(error), FILTER_LOAD(nr)

static const struct {
    const char *name;
    int call;
} calls[] = {
    {"clone3", SYS_clone3},
    {"close_range", SYS_close_range},
    {"faccessat2", SYS_faccessat2},
    {"getrandom", SYS_getrandom},
    {"membarrier", SYS_membarrier},
    {"memfd_create", SYS_memfd_create},
    {"openat2", 437},
    {"perf_event_open", SYS_perf_event_open},
    {"pidfd_open", SYS_pidfd_open},
    {"pidfd_send_signal", SYS_pidfd_send_signal},
    {"process_madvise", 440},
    {"process_vm_readv", SYS_process_vm_readv},
    {"ptrace", SYS_ptrace},
    {"renameat2", SYS_renameat2},
    {"rseq", SYS_rseq},
    {"seccomp", SYS_seccomp},
    {"set_robust_list", SYS_set_robust_list},
    {"statx", SYS_statx},
    {"userfaultfd", SYS_userfaultfd},
};
static const struct {
    const char *name;
    int value;
} errors[] = {{"ENOSYS", ENOSYS}, {"EPERM", EPERM}};

#define COUNT(array) (sizeof(array) / sizeof(*array))

static void print_rows(void)
{
    puts("none linux-5.4 populate random");
    for (size_t i = 0; i < COUNT(calls); i++)
        for (size_t j = 0; j < COUNT(errors); j++)
            printf("%s-%s\n", calls[i].name, errors[j].name);
}

static bool set_row(const char *row)
{
    char name[64];

    if (strcmp(row, "none") == 0)
        return true;
    if (strcmp(row, "populate") == 0)
        return FILTER_SET(FROM(SYS_madvise, 2, FIRST_ADVICE_SINCE_5_4, EINVAL));
    if (strcmp(row, "random") == 0) /* none at boot */
        return FILTER_SET(FILTER_REFUSE(SYS_getrandom, EAGAIN));
    if (strcmp(row, "linux-5.4") == 0)
        return FILTER_SET(FROM(SYS_madvise, 2, FIRST_ADVICE_SINCE_5_4, EINVAL),
                          FROM(SYS_memfd_create, 1, 8, EINVAL),
                          FROM(SYS_mremap, 3, 4, EINVAL),
                          FROM(SYS_ptrace, 0, FIRST_REQUEST_SINCE_5_4, EIO),
#ifdef SYS_arch_prctl
                          FROM(SYS_arch_prctl, 0, CET_REQUESTS, EINVAL),
#endif
                          LESS(FIRST_CALL_SINCE_5_4, 1), FAIL(ENOSYS));
    for (size_t i = 0; i < COUNT(calls); i++)
        for (size_t j = 0; j < COUNT(errors); j++) {
            snprintf(name, sizeof name, "%s-%s", calls[i].name, errors[j].name);
            if (strcmp(name, row) == 0)
                return FILTER_SET(FILTER_REFUSE(calls[i].call, errors[j].value));
        }
    return false;
}

/* 0: the command line is for the case itself. */
static int old_kernel_run(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "rows") == 0) {
        print_rows();
        exit(0);
    }
    if (argc < 4 || strcmp(argv[1], "under") != 0)
        return 0;
    if (!set_row(argv[2]))
        return 125;
    execvp(argv[3], argv + 3);
    return 126;
}

#endif
