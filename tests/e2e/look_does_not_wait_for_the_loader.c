// Hard case 17: a thread holds the loader's lock and gives it back only when the look that another thread
// asks for is done; a thread in dlopen, in the constructor of a library, likewise.
// CFLAGS: -O0 -g -fno-builtin -rdynamic
// CFLAGS: -O2 -g -fno-builtin -rdynamic
// BUILD: printf '__attribute__((constructor)) static void f(void) { extern void wait_there(void); wait_there(); }' >%d/c.c && cc -O1 -shared -fPIC -o %d/c.so %d/c.c
// ENV: LIBLEAK_OPTIONS=exit_look=off
// RUN: %leak %t %d/c.so
// EXPECT: ^first: 1, second: 1$
// JSON: verdict("dropped") == {"lost": (1, 40)}

#include "lib/verdicts.h"
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <semaphore.h>

static sem_t inside, done;
LOSE(dropped, 40)

__attribute__((visibility("default"), used)) void wait_there(void)
{
    sem_post(&inside);
    sem_wait(&done);
}

static int callback(struct dl_phdr_info *info, size_t size, void *x)
{
    wait_there();
    return 1;
}

static void *iterates(void *x)
{
    dl_iterate_phdr(callback, NULL);
    return NULL;
}

static void *loads(void *path)
{
    if (!dlopen(path, RTLD_NOW))
        puts(dlerror()), exit(1);
    return NULL;
}

static long asked(void *(*thread)(void *), void *arg)
{
    pthread_t t;
    long n;

    pthread_create(&t, NULL, thread, arg);
    sem_wait(&inside);
    scrub();
    n = look();
    sem_post(&done);
    pthread_join(t, NULL);
    return n;
}

int main(int argc, char **argv)
{
    sem_init(&inside, 0, 0);
    sem_init(&done, 0, 0);
    dropped();
    long first = asked(iterates, NULL);
    printf("first: %ld, second: %ld\n", first, asked(loads, argv[1]));
    return 0;
}
