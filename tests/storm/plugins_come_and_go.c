// 2,000 dlopen/dlclose of two plugins at one address, while two threads allocate: every block is named
// by the plugin that was there when it was made.
// CFLAGS: -O1 -g -fno-builtin
// BUILD: for n in first_plugin second_plugin; do gcc -w -O1 -g -shared -fPIC -DNAME=leak_of_$n -DSIZE=${#n}00 -o %d/$n.so %S/../e2e/lib/named.c; done
// RUN: %leak %t %d/first_plugin.so %d/second_plugin.so >ledger
// JSON: int(ledger[0][0]) >= 1990
// JSON: (of("leak_of_first_plugin").blocks, of("leak_of_first_plugin").bytes) == (1000, 1200000)
// JSON: (of("leak_of_second_plugin").blocks, of("leak_of_second_plugin").bytes) == (1000, 1300000)
// JSON: all(f.module.endswith("/first_plugin.so") and f.line == 8 for f in at("leak_of_first_plugin", all=True))
// JSON: all(f.module.endswith("/second_plugin.so") and f.line == 8 for f in at("leak_of_second_plugin", all=True))
// JSON: of("busy").blocks == int(ledger[0][1])

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

static __thread void *volatile sink;
static atomic_int stop;
static atomic_long leaked;

__attribute__((noinline)) static void *busy(void *x)
{
    for (unsigned i = 0; !stop; i++) {
        free(malloc(i % 100));
        if (i % 10000 == 0) {
            sink = malloc(20);
            leaked++;
        }
    }
    return NULL;
}

int main(int argc, char **argv)
{
    void *last = NULL;
    int same = 0;
    pthread_t t[2];

    for (int i = 0; i < 2; i++)
        pthread_create(&t[i], NULL, busy, NULL);
    for (int i = 0; i < 2000; i++) {
        void *h = dlopen(argv[1 + i % 2], RTLD_NOW | RTLD_LOCAL);
        void (*f)(void) = dlsym(h, "run");
        same += (void *)f == last;
        last = (void *)f;
        f();
        dlclose(h);
    }
    stop = 1;
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
    dprintf(1, "%d %ld\n", same, (long)leaked);
    return 0;
}
