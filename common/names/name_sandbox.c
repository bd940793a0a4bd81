/* name_sandbox.c - a seccomp filter for the process that reads foreign files. */
#include "common/names/name_server.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "leak_cpu.h"

#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define SKIP_UNLESS(value, over) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), 0, (over))
#define SKIP_UNLESS_ANY(bits, over) BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, (bits), 0, (over))
#define ALLOW BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
#define REFUSE BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM)
#define REFUSE_CALL(call) SKIP_UNLESS(call, 1), REFUSE
#define WRITES (O_WRONLY | O_RDWR | O_CREAT | O_TRUNC)
/* Refuses a system call that opens a file for writing; its flags are args[argument]. */
#define REFUSE_WRITES(call, argument)                                                              \
    SKIP_UNLESS(call, 4), LOAD(args[argument]), SKIP_UNLESS_ANY(WRITES, 1), REFUSE, ALLOW

void name_sandbox_enter(void)
{
    struct sock_filter code[] = {
        LOAD(arch),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, LEAK_CPU_AUDIT, 1, 0),
        REFUSE,
        LOAD(nr),
        REFUSE_WRITES(SYS_openat, 2),
#ifdef SYS_open
        REFUSE_WRITES(SYS_open, 1),
        REFUSE_CALL(SYS_fork),
        REFUSE_CALL(SYS_vfork),
        REFUSE_CALL(SYS_unlink),
        REFUSE_CALL(SYS_rename),
#endif
        REFUSE_CALL(SYS_execve),
        REFUSE_CALL(SYS_execveat),
        REFUSE_CALL(SYS_clone),
#ifdef SYS_clone3
        REFUSE_CALL(SYS_clone3),
#endif
#ifdef SYS_io_uring_setup
        REFUSE_CALL(SYS_io_uring_setup),
#endif
        REFUSE_CALL(SYS_socket),
        REFUSE_CALL(SYS_connect),
        REFUSE_CALL(SYS_bind),
        REFUSE_CALL(SYS_kill),
        REFUSE_CALL(SYS_ptrace),
        REFUSE_CALL(SYS_process_vm_readv),
        REFUSE_CALL(SYS_process_vm_writev),
        REFUSE_CALL(SYS_unlinkat),
        REFUSE_CALL(SYS_renameat2),
        REFUSE_CALL(SYS_mkdirat),
        REFUSE_CALL(SYS_fchmodat),
        REFUSE_CALL(SYS_fchownat),
        REFUSE_CALL(SYS_mount),
        REFUSE_CALL(SYS_unshare),
        REFUSE_CALL(SYS_setns),
        REFUSE_CALL(SYS_bpf),
        ALLOW,
    };
    struct sock_fprog program = {sizeof(code) / sizeof(*code), code};

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0)
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}
