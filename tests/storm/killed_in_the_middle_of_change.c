// kill -9 while threads begin and end, a library comes and goes and children are forked: every store
// left behind can be read and holds no more frees than allocations.
// CFLAGS: -O1 -g -fno-builtin
// BUILD: gcc -w -O1 -g -shared -fPIC -DNAME=leak_of_named -DSIZE=100 -o %d/named.so %S/../e2e/lib/named.c
// RUN: /usr/bin/python3 %S/kill.py %t %O/libleak.so %report %d loose
// EXPECT: ^all moments agree

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile uint64_t *ledger;
static long limit;

static void *brief(void *x)
{
    void *p[20];

    for (int i = 0; i < 20; i++)
        p[i] = malloc(i * 10);
    for (int i = 1; i < 20; i++)
        free(p[i]);
    return NULL;
}

static void *makes_threads(void *x)
{
    pthread_t t;

    for (long i = 0; i != limit; i++) {
        pthread_create(&t, NULL, brief, NULL);
        pthread_join(t, NULL);
        ledger[0]++;
    }
    return NULL;
}

static void *changes_modules(void *x)
{
    for (long i = 0; i != limit; i++) {
        void *h = dlopen("./named.so", RTLD_NOW);
        ((void (*)(void))dlsym(h, "run"))();
        dlclose(h);
    }
    return NULL;
}

static void *forks(void *x)
{
    for (long i = 0; i != limit; i++) {
        pid_t pid = fork();
        if (!pid) {
            free(malloc(10));
            _exit(0);
        }
        waitpid(pid, NULL, 0);
        usleep(1000);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    void *(*work[])(void *) = { makes_threads, changes_modules, forks };
    pthread_t t[3];

    limit = atol(argv[2]);
    ledger = mmap(NULL, 256, PROT_READ | PROT_WRITE, MAP_SHARED, open(argv[1], O_RDWR), 0);
    for (int i = 0; i < 3; i++)
        pthread_create(&t[i], NULL, work[i], NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], NULL);
    return 0;
}
