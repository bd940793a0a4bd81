// Threads with the smallest stack there is, and a handler on a small alternate stack: we leave room.
// CFLAGS: -O1 -g -fno-builtin
// CFLAGS: -O2 -g -fno-builtin -fomit-frame-pointer
// EXPECT: 100 threads, 100 signals
// JSON: of("leak").blocks == 200 and of("in_handler").blocks == 100

#include <alloca.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static __thread void *volatile sink;
static int threads, signals;

__attribute__((noinline)) static void leak(void) { sink = malloc(10); sink = NULL; }
__attribute__((noinline)) static void in_handler(int s) { sink = malloc(20); signals++; }

static void *work(void *x)
{
    char *room = alloca(6000); /* of 16384, libc's own share not counted */

    memset(room, 1, 6000);
    sink = room;
    leak();
    threads++;
    leak();
    return NULL;
}

int main(void)
{
    pthread_attr_t a;
    pthread_t t;
    size_t small = 8192 + sysconf(_SC_MINSIGSTKSZ);
    stack_t alt = { .ss_sp = malloc(small), .ss_size = small };
    struct sigaction sa = { .sa_handler = in_handler, .sa_flags = SA_ONSTACK };

    pthread_attr_init(&a);
    pthread_attr_setstacksize(&a, PTHREAD_STACK_MIN);
    sigaltstack(&alt, NULL);
    sigaction(SIGUSR1, &sa, NULL);
    for (int i = 0; i < 100; i++) {
        if (pthread_create(&t, &a, work, NULL)) return 1;
        pthread_join(t, NULL);
        raise(SIGUSR1);
    }
    dprintf(1, "%d threads, %d signals\n", threads, signals);
    return 0;
}
