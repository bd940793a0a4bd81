// Beside a lost block, resources that were opened once and threads that still run have one line each, so that the
// callers of the leak have the screen. Without a leak and with room, resources have their places.
// CFLAGS: -O0 -g -pthread -fno-optimize-sibling-calls
// RUN: %run %t leak >leak 2>&1; head -n 24 leak; echo; %run %t >none 2>&1; sed 's/^/none: /' none
// EXPECT: ^     l1 +.*:[0-9]+$
// EXPECT: ^     forgetful +.*:[0-9]+$
// EXPECT: ^Opened once and still open \(-v\): 3 × /dev/null in open_log\(\)
// EXPECT: ^Still running at the end: 2 threads \(-v\): (early, late|late, early)\.$
// EXPECT: ^none: no lost blocks \([0-9]+ allocations\), resources still open$
// EXPECT: ^none: Resources still open, opened once each
// EXPECT: ^none: +third +.*:[0-9]+$|^none: - stream: /dev/null, in open_log
// EXPECT: ^none: [0-9,]+ bytes still reachable, not lost \(--show=reachable lists them\)\.$
// REFUSE: ^none: (Opened once|Still open)
// REFUSE: ^[1-9].* more caller
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#define FAR __attribute__((noinline))

FILE *held[3];
void *kept;

FAR FILE *open_log(void)
{
    return fopen("/dev/null", "w");
}
FAR void first(void)
{
    held[0] = open_log();
}
FAR void second(void)
{
    held[1] = open_log();
}
FAR void third(void)
{
    held[2] = open_log();
}

FAR void *l1(void)
{
    return malloc(77);
}
FAR void *l2(void)
{
    return l1();
}
FAR void *l3(void)
{
    return l2();
}
FAR void *l4(void)
{
    return l3();
}
FAR void *l5(void)
{
    return l4();
}
FAR void forgetful(void)
{
    *(char *)l5() = 1;
}

FAR void scrub(void)
{
    volatile char stack[4096] = {0};
    (void)stack;
}

static void *wait_forever(void *unused)
{
    for (;;)
        pause();
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t early, late;

    (void)argv;
    kept = malloc(100);
    first();
    second();
    third();
    if (argc < 2)
        return 0;
    pthread_create(&early, NULL, wait_forever, NULL);
    pthread_setname_np(early, "early");
    pthread_create(&late, NULL, wait_forever, NULL);
    pthread_setname_np(late, "late");
    forgetful();
    scrub();
    return 0;
}
