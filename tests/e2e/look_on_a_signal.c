// A look when the program gets the signal snapshot_signal= names (62 when it does not): in a program that
// sleeps and never ends by itself; the program does not notice, nor is its sleep cut short.
// CFLAGS: -O0 -g -fno-builtin
// CFLAGS: -O2 -g -fno-builtin
// RUN: LIBLEAK_OPTIONS=exit_look=off; %leak %t 62 || exit; LIBLEAK_OPTIONS=exit_look=off:snapshot_signal=60; %leak %t 60
// EXPECT: ^slept to the end, 62$
// EXPECT: ^slept to the end, 60$
// REFUSE: cut short
// JSON: len(procs) == 2 and all(verdict("dropped", q) == {"lost": (1, 40)} and verdict("held", q) == {"reachable": (1, 56)} for q in procs)
// JSON: all(q.snapshot.rung == "parked" and q.snapshot.occasion for q in procs)

#include "lib/verdicts.h"
#include <pthread.h>
#include <signal.h>
#include <time.h>

LOSE(dropped, 40)
TAKE(held, 56)
static void *volatile global;

static void *later(void *signal)
{
    usleep(200000);
    kill(getpid(), (long)signal);
    return NULL;
}

int main(int argc, char **argv)
{
    struct timespec time = { 0, 700000000 };
    pthread_t t;

    if (!libleak_present()) /* without libleak the signal would end us */
        signal(atoi(argv[1]), SIG_IGN);
    dropped();
    global = held();
    scrub();
    pthread_create(&t, NULL, later, (void *)atol(argv[1]));
    if (nanosleep(&time, &time))
        puts("cut short");
    printf("slept to the end, %s\n", argv[1]);
    return 0;
}
