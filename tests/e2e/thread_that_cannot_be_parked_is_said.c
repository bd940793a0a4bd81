// Hard case 17: a thread has blocked every signal by a system call of its own: it cannot be parked. The
// process ends in good time, the report says so, what its stack holds is not called lost.
// CFLAGS: -O0 -g -fno-builtin
// CFLAGS: -O2 -g -fno-builtin
// JSON: p.snapshot.threads_missed == 1 or p.snapshot.rung == "unstopped"
// JSON: of("in_thread").blocks == 1 and "lost" not in verdict("in_thread")
// JSON: verdict("dropped") == {"lost": (1, 40)}
// JSON: p.end.how == "exit" and p.end.value == 0

#include "lib/verdicts.h"
#include <pthread.h>
#include <semaphore.h>
#include <sys/syscall.h>

static sem_t ready;
LOSE(dropped, 40)
TAKE(in_thread, 56)

static void *thread(void *x)
{
    void *volatile local = in_thread();
    unsigned long all = -1ul;

    syscall(SYS_rt_sigprocmask, 2, &all, NULL, 8);
    sem_post(&ready);
    for (;;)
        pause();
    return local;
}

int main(void)
{
    pthread_t t;

    sem_init(&ready, 0, 0);
    pthread_create(&t, NULL, thread, NULL);
    sem_wait(&ready);
    usleep(50000);
    dropped();
    return 0;
}
