// Promise 4.14: a process that may not make its code writable is told in one line that start_at= cannot be, and runs as without it.
// RUN: for how in forbid allow; do LIBLEAK_OPTIONS=start_at=begin; export LIBLEAK_OPTIONS; %leak %t $how || exit 1; done
// EXPECT: ^libleak: start_at=begin: this process may not change its code, so the call is not noticed$
// EXPECT: ^forbid: 43$
// EXPECT: ^allow: 43$
// JSON: [q.summary.lost.bytes for q in procs if len(q.argv) == 3] == [0, 100]
// JSON: ["never enabled" in " ".join(q.notes) for q in procs if len(q.argv) == 3] == [True, False]

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static void *volatile sink;

__attribute__((noinline)) static int begin(int n)
{
    __asm__ volatile("");
    return n + 1;
}

/* mprotect of what is to be written to and run. */
static int forbid(void)
{
    struct sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mprotect, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PROT_READ | PROT_WRITE | PROT_EXEC, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EACCES),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    struct sock_fprog program = {sizeof rules / sizeof *rules, rules};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

int main(int argc, char **argv)
{
    if (argc == 2) { /* once more, in the sandbox */
        if (!strcmp(argv[1], "forbid") && !forbid())
            return 2;
        execl("/proc/self/exe", argv[0], argv[1], "again", NULL);
        return 3;
    }
    printf("%s: %d\n", argv[1], begin(42));
    sink = malloc(100);
    sink = NULL;
    return 0;
}
