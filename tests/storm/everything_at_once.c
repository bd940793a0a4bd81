// For SOAK_SECONDS everything happens at once: threads allocate, threads come and go, children are forked, a plugin is loaded and
// unloaded, a signal arrives 10,000 times a second, and each 100 ms there is a leak check. At the end exactly what was lost is
// lost; no wait was interrupted; and between the first quarter and the end the process has not grown.
// CFLAGS: -O1 -g -fno-builtin
// BUILD: gcc -w -O1 -g -shared -fPIC -DNAME=of_plugin -DSIZE=700 -o %d/plugin.so %S/../e2e/lib/named.c
// RUN: LIBLEAK_OPTIONS=snapshot_every=100ms; %leak %t ${SOAK_SECONDS:-5} %d/plugin.so
// EXPECT: ^calm$
// REFUSE: interrupted|grown|strange
// JSON: of("lose").blocks == 100 and procs[0].summary.lost.blocks == 100
// JSON: procs[0].summary.possible.blocks == 0 and procs[0].summary.hidden.blocks == 0
// JSON: procs[0].coverage.unknown_frees == 0 and procs[0].end.how == "exit" and procs[0].end.value == 0

#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static atomic_int stop;
static atomic_long waits, interrupted, strange, handled, threads;

void *volatile sink;
__attribute__((noinline)) static void lose(void) { sink = malloc(24); sink = NULL; }

struct node {
    struct node *next;
    char text[40];
};

static void *allocates(void *unused)
{
    struct node *list = NULL;
    for (unsigned i = 0; !stop; i++) {
        struct node *n = calloc(1, sizeof *n + i % 500);
        n->next = list;
        list = n;
        if (i % 1000 == 999)
            while ((n = list)) {
                list = n->next;
                free(n);
            }
    }
    for (struct node *n; (n = list); free(n))
        list = n->next;
    return unused;
}

static void *short_life(void *block)
{
    free(realloc(block, 200));
    return malloc(50);
}

static void *makes_threads(void *unused)
{
    while (!stop) {
        pthread_t thread[4];
        for (int i = 0; i < 4; i++)
            pthread_create(&thread[i], NULL, short_life, malloc(30));
        for (int i = 0; i < 4; i++) {
            void *result;
            pthread_join(thread[i], &result);
            free(result);
            threads++;
        }
        usleep(5000);
    }
    return unused;
}

static void *forks(void *unused)
{
    for (unsigned i = 0; !stop; i++) {
        int status = 0;
        pid_t child = fork();
        if (child == 0) {
            if (i % 50 == 0) // it gets a recording of its own
                free(malloc(100));
            _exit(7);
        }
        if (waitpid(child, &status, 0) != child)
            interrupted++;
        else if (!WIFEXITED(status) || WEXITSTATUS(status) != 7)
            strange++;
        waits++;
        usleep(20000);
    }
    return unused;
}

static const char *plugin;

static void *loads(void *unused)
{
    while (!stop) {
        void *library = dlopen(plugin, RTLD_NOW);
        void *(*make)(void) = library ? dlsym(library, "of_plugin") : NULL;
        if (make)
            free(make());
        else
            strange++;
        if (library)
            dlclose(library);
        usleep(2000);
    }
    return unused;
}

#define WAIT(call, good)                                                                           \
    do {                                                                                           \
        errno = 0;                                                                                 \
        if (!(call good))                                                                          \
            errno == EINTR ? interrupted++ : strange++;                                            \
        waits++;                                                                                   \
    } while (0)

static void *sleeps(void *unused)
{
    struct timespec time = {0, 3000000}, until;
    sem_t never;
    int pipes[2];
    sem_init(&never, 0, 0);
    if (pipe(pipes))
        return unused;
    struct pollfd one = {pipes[0], POLLIN};
    while (!stop) {
        WAIT(nanosleep(&time, NULL), == 0);
        WAIT(poll(&one, 1, 3), == 0);
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += 3000000;
        if (until.tv_nsec >= 1000000000)
            until.tv_sec++, until.tv_nsec -= 1000000000;
        WAIT(sem_timedwait(&never, &until), < 0 && errno == ETIMEDOUT);
    }
    return unused;
}

static void on_signal(int number) { handled++; }

/* The only thread that does not block SIGUSR1. */
static void *is_signalled(void *unused)
{
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGUSR1};
    struct itimerspec often = {{0, 100000}, {0, 100000}};
    timer_t timer;
    sigset_t only;
    event._sigev_un._tid = gettid();
    sigemptyset(&only);
    sigaddset(&only, SIGUSR1);
    pthread_sigmask(SIG_UNBLOCK, &only, NULL);
    timer_create(CLOCK_MONOTONIC, &event, &timer);
    timer_settime(timer, 0, &often, NULL);
    allocates(unused);
    timer_delete(timer);
    pthread_sigmask(SIG_BLOCK, &only, NULL);
    return unused;
}

static long resident_kib(void)
{
    long total = 0, resident = 0;
    char line[100] = "";
    FILE *file = fopen("/proc/self/statm", "r");
    if (fgets(line, sizeof line, file))
        sscanf(line, "%ld %ld", &total, &resident);
    fclose(file);
    return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

int main(int count, char **argument)
{
    void *(*work[])(void *) = {allocates, makes_threads, forks, loads, sleeps, sleeps, is_signalled};
    pthread_t thread[sizeof work / sizeof *work];
    int seconds = atoi(argument[1]);
    sigset_t signals;
    plugin = argument[2];
    signal(SIGUSR1, on_signal);
    sigemptyset(&signals);
    sigaddset(&signals, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
    for (int i = 0; i < 100; i++)
        lose();
    for (size_t i = 0; i < sizeof work / sizeof *work; i++)
        pthread_create(&thread[i], NULL, work[i], NULL);
    sleep(seconds / 4 + 2);
    long before = resident_kib();
    sleep(seconds);
    long grown = resident_kib() - before;
    stop = 1;
    for (size_t i = 0; i < sizeof work / sizeof *work; i++)
        pthread_join(thread[i], NULL);
    fprintf(stderr, "%ld waits, %ld signals, %ld KiB more\n", waits, handled, grown);
    if (interrupted)
        printf("%ld waits interrupted\n", interrupted);
    if (strange)
        printf("%ld strange results\n", strange);
    // Each of the first 65,536 threads has a record.
    if (grown > 3000 + (threads < 65536 ? threads : 65536) / 8)
        printf("grown by %ld KiB\n", grown);
    puts("calm");
    return 0;
}
