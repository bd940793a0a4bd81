// Hard case 30: dlsym itself allocates (its error text does); such blocks are served, known for ever
// and freed without harm; and a thread that meets this first is no different.
// CFLAGS: -O1 -g -fno-builtin
// EXPECT: not found, 200 times
// JSON: of("after").blocks == 2
// JSON: p.end.how == "exit" and p.end.value == 0

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

void *volatile sink;
__attribute__((noinline)) void after(void) { sink = malloc(10); }

static void *ask(void *n)
{
    long missing = 0;

    for (int i = 0; i < 100; i++) {
        missing += !dlsym(RTLD_DEFAULT, "no_such_symbol_anywhere");
        if (!dlerror()) abort();
    }
    after();
    return (void *)missing;
}

int main(void)
{
    pthread_t t;
    void *m;

    pthread_create(&t, NULL, ask, NULL);
    pthread_join(t, &m);
    dprintf(1, "not found, %ld times\n", (long)m + (long)ask(NULL));
    return 0;
}
