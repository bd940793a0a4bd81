// Hard case 19: as in a container: no capabilities, no_new_privs, and a filter that refuses ptrace,
// process_vm_readv, kcmp and pidfd_getfd: parked, and the same verdicts. (LeakSanitizer: dies.)
// NEEDS: setpriv
// CFLAGS: -O0 -g -fno-builtin
// CFLAGS: -O2 -g -fno-builtin
// RUN: %leak %t; setpriv --no-new-privs --inh-caps=-all --bounding-set=-all %leak %t
// EXPECT: refused as asked
// JSON: len(procs) == 2 and all(q.snapshot.rung == "parked" and q.snapshot.threads_parked == 1 for q in procs)
// JSON: all(verdict("dropped", q) == {"lost": (1, 40)} and verdict("in_thread", q) == {"reachable": (1, 56)} for q in procs)

#include "lib/verdicts.h"
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <semaphore.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>

LOSE(dropped, 40)
TAKE(in_thread, 56)
static sem_t ready;

static void *thread(void *x)
{
    void *volatile local = in_thread();

    sem_post(&ready);
    for (;;)
        pause();
    return local;
}

#define NO(call) \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_##call, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM)

int main(void)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        NO(ptrace), NO(process_vm_readv), NO(process_vm_writev), NO(kcmp),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog prog = { sizeof code / sizeof *code, code };
    pthread_t t;

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog))
        return 1;
    sem_init(&ready, 0, 0);
    pthread_create(&t, NULL, thread, NULL);
    sem_wait(&ready);
    usleep(20000);
    dropped();
    if (ptrace(PTRACE_TRACEME, 0, 0, 0) == -1 && errno == EPERM)
        write(1, "refused as asked\n", 17);
    return 0;
}
