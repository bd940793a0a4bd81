// Hard case 29c: a signal handler longjmps out of malloc and free 1e5 times: tracking goes on, no lock
// is left held, the rest is counted exactly.
// CFLAGS: -O1 -g -fno-builtin
// BUILD: gcc -w -O1 -shared -fPIC -o %d/libraises.so %S/lib/raises.c
// RUN: env "LD_PRELOAD=%O/libleak.so %d/libraises.so" "LIBLEAK_OPTIONS=dir=%d/store" %t
// EXPECT: jumped 100000
// JSON: (of("kept").blocks, of("kept").bytes) == (100000, 1000000)
// JSON: of("freed").blocks == 0
// JSON: of("in_thread").blocks == 2
// JSON: p.end.how == "exit" and p.end.value == 0

#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

void *volatile sink;
static sigjmp_buf back;

static void handler(int s) { siglongjmp(back, 1); }
__attribute__((noinline)) void kept(void) { sink = malloc(10); sink = NULL; }
__attribute__((noinline)) void freed(void) { free(malloc(20)); }
static void *in_thread(void *x) { kept(); sink = malloc(1); return x; }

int main(void)
{
    int *armed = dlsym(RTLD_DEFAULT, "raises_armed");
    static volatile int jumped;
    pthread_t t;

    signal(SIGUSR1, handler);
    for (volatile int i = 0; i < 100000; i++) {
        if (!sigsetjmp(back, 1)) {
            *armed = 1 + i % 2;
            free(malloc(99)); /* 1: the signal comes inside malloc, 2: inside free */
            abort();
        }
        jumped++;
        if (i != 99999)
            kept();
        freed();
    }
    pthread_create(&t, NULL, in_thread, NULL);
    pthread_join(t, NULL);
    dprintf(1, "jumped %d\n", jumped);
    return 0;
}
