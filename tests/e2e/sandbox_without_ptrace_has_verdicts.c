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
#include "../filter.h"
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/ptrace.h>

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

#define NO(call) FILTER_REFUSE(SYS_##call, EPERM)

int main(void)
{
    pthread_t t;

    if (!FILTER_SET(NO(ptrace), NO(process_vm_readv), NO(process_vm_writev), NO(kcmp)))
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
