// Hard case 9: with live, ended and detached threads, thread-local memory of libraries and many keys, what
// the loader and libpthread allocate for them (272 bytes and the like) is in use, or the runtime's.
// (LeakSanitizer: many_tls_keys_pthread, many_tls_keys_thread.)
// CFLAGS: -O0 -g -fno-builtin
// CFLAGS: -O2 -g -fno-builtin
// BUILD: cc -O1 -g -shared -fPIC -o %d/tls.so %S/lib/tls_plugin.c
// RUN: %leak %t %d/tls.so
// JSON: all(r.verdict in ("runtime", "reachable") for r in p.records if r.blocks)
// JSON: all(p.summary[v].blocks == 0 for v in ("lost", "indirect", "possible", "hidden", "unfreed"))
// JSON: p.summary.runtime.blocks > 0

#include "lib/verdicts.h"
#include <dlfcn.h>
#include <pthread.h>

static void (*keep)(void *);
static pthread_key_t key[1000];

static void *thread(void *x)
{
    keep(x);
    for (int i = 0; i < 1000; i++)
        pthread_setspecific(key[i], x);
    while (x)
        pause();
    return NULL;
}

int main(int argc, char **argv)
{
    void *h = dlopen(argv[1], RTLD_NOW);
    pthread_t t;

    if (!h)
        return puts(dlerror());
    keep = (void (*)(void *))dlsym(h, "tls_keep");
    for (int i = 0; i < 1000; i++)
        pthread_key_create(&key[i], NULL);
    for (int i = 0; i < 20; i++) {
        pthread_create(&t, NULL, thread, i % 4 ? NULL : (void *)1);
        if (i % 4 == 1)
            pthread_join(t, NULL);
        else if (i % 4 == 2)
            pthread_detach(t);
    }
    usleep(50000);
    return 0;
}
