// An account in memory only is handed to leakreport as a file in memory. Where a filter refuses that, one line says so,
// nothing is started, and the program ends with its own status; without the filter there is a report.
// RUN: run() { LD_PRELOAD=%O/libleak.so LIBLEAK_OPTIONS=report=exit:dir=/proc/none %t "$@" 2>&1; echo "$1=$?"; }
// RUN: LD_PRELOAD= ; run refused; echo ----; run allowed
// EXPECT: ^libleak: no report: there is no file in memory to hand it over$
// EXPECT: ^refused=5$
// EXPECT: lost=1234/1/1
// EXPECT: ^allowed=5$

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

static void *volatile sink;

static int refuse(void)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_memfd_create, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog prog = {sizeof code / sizeof *code, code};

    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog);
}

__attribute__((noinline)) static void lose(void)
{
    sink = malloc(1234);
    sink = NULL;
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "refused") == 0 && refuse())
        return 1;
    lose();
    return 5;
}
