// Filters judge arguments, too. This one kills for memory that is mapped with other flags than malloc's, for any advice, and for
// a copy of the process that sends no SIGCHLD; a second filter behind it kills for the calls that peek at memory.
// CFLAGS: -O1 -g -fno-builtin
// RUN: %leak %t; s=$?; %report store/* | grep -c 'no leak check was made: a seccomp filter'; exit $s
// EXIT: 6
// EXPECT: ^child ended with 8$
// EXPECT: ^1$
// JSON: of("sites").blocks > 0

#include "lib/sites.h"
#include "../filter.h"
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define ARGUMENT(n) FILTER_LOAD(args[n])
#define KILL FILTER_RETURN(SECCOMP_RET_KILL_PROCESS)
#define ALLOW FILTER_RETURN(SECCOMP_RET_ALLOW)

int main(void)
{
    int status;

    if (!FILTER_SET(FILTER_UNLESS(SYS_mmap, 4), ARGUMENT(3), FILTER_UNLESS(MAP_PRIVATE | MAP_ANONYMOUS, 1), ALLOW, KILL,
                    FILTER_UNLESS(SYS_madvise, 1), KILL,
                    FILTER_UNLESS(SYS_clone, 4), ARGUMENT(0), BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, SIGCHLD, 1, 0), KILL,
                    ALLOW))
        return 1;
    if (!FILTER_SET(FILTER_UNLESS(SYS_process_vm_readv, 1), KILL, FILTER_UNLESS(SYS_rt_sigprocmask, 3), ARGUMENT(0),
                    BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, 2, 0, 1), KILL, FILTER_UNLESS(SYS_prctl, 1), KILL))
        return 2;
    sites(3000);
    if (fork() == 0) {
        sites(100);
        _exit(8);
    }
    wait(&status);
    dprintf(1, "child ended with %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status));
    return 6;
}
