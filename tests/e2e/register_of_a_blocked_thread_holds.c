// Hard case 7: the only pointer is in a callee-saved register of a thread that sleeps in poll,
// epoll_wait, read or futex: reachable, by its registers; with roots= that leave registers out, lost.
// CFLAGS: -O0 -g -fno-builtin -DOUT=0
// CFLAGS: -O2 -g -fno-builtin -DOUT=0
// RUN: %leak %t; LIBLEAK_OPTIONS=roots=globals,stacks,tls,user,anon; %leak %t
// EXPECT: ^four sleep
// JSON: len(procs) == 2
// JSON: all(verdict(f, procs[0]) == {"reachable": (1, n)} for f, n in (("in_poll", 24), ("in_epoll", 40), ("in_read", 56), ("in_futex", 72)))
// JSON: all(root(f, procs[0]).cls == "registers" for f in ("in_poll", "in_epoll", "in_read", "in_futex"))
// JSON: all(verdict(f, procs[1]) == {"lost": (1, n)} for f, n in (("in_poll", 24), ("in_epoll", 40), ("in_read", 56), ("in_futex", 72)))
// JSON: all(q.snapshot.threads_parked == 4 and q.snapshot.threads_missed == 0 for q in procs)

#include "lib/verdicts.h"
#include "lib/in_register.h"
#include <pthread.h>
#include <semaphore.h>
#include <sys/epoll.h>
#include <sys/syscall.h>

static int pipes[2], epoll, word;
static sem_t ready;
#define IN(name, size)                                                                             \
    FAR static void *name(void)                                                                    \
    {                                                                                              \
        void *p = malloc(size);                                                                    \
        sem_post(&ready);                                                                          \
        return opaque(p);                                                                          \
    }
IN(in_poll, 24)
IN(in_epoll, 40)
IN(in_read, 56)
IN(in_futex, 72)

static void *thread(void *which)
{
    static struct epoll_event event;
    static char c;

    switch ((long)which) {
    case 0: hold_in_register(in_poll, SYS_ppoll, 0, 0, 0, 0); break;
    case 1: hold_in_register(in_epoll, SYS_epoll_pwait, epoll, (long)&event, 1, -1); break;
    case 2: hold_in_register(in_read, SYS_read, pipes[0], (long)&c, 1, 0); break;
    case 3: hold_in_register(in_futex, SYS_futex, (long)&word, 0, 0, 0); break;
    }
    write(1, "woke up\n", 8);
    return NULL;
}

int main(void)
{
    pthread_t t;

    sem_init(&ready, 0, 0);
    pipe(pipes);
    epoll = epoll_create1(0);
    for (long i = 0; i < 4; i++)
        pthread_create(&t, NULL, thread, (void *)i);
    for (int i = 0; i < 4; i++)
        sem_wait(&ready);
    usleep(100000);
    write(1, "four sleep\n", 11);
    return 0;
}
