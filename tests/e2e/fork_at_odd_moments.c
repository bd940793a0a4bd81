// fork where it hurts: in a handler that interrupted malloc or free, with a handler that allocates while
// fork is under way, in a thread whose child returns at once. Nobody waits for ever, parent and children
// count exactly.
// CFLAGS: -O1 -g -fno-builtin
// RUN: %leak timeout -s KILL 40 %t
// EXPECT: went through
// JSON: of("before").blocks == 10 and of("after").blocks == 10
// JSON: all(of("churn", q).blocks == 0 and of("busy", q).blocks == 0 for q in procs)
// JSON: p.end.how == "exit" and p.end.value == 0

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

void *volatile sink;
static volatile int forks, wanted;

__attribute__((noinline)) static void busy(void)
{
    for (int i = 0; i < 30; i++)
        free(malloc(10 + i * 80));
}
static void allocates(int s) { busy(); }
static void forks_itself(int s)
{
    pid_t child = forks < wanted ? fork() : -1;
    if (child > 0 && ++forks)
        waitpid(child, NULL, 0);
}
__attribute__((noinline)) static void churn(void) { free(malloc(33)); }
__attribute__((noinline)) static void before(void) { for (int i = 0; i < 10; i++) sink = malloc(10); }
__attribute__((noinline)) static void after(void) { for (int i = 0; i < 10; i++) sink = malloc(20); }

static pid_t signals_from_outside(void)
{
    pid_t me = getpid(), child = fork();
    while (!child) {
        if (getppid() != me || kill(me, SIGUSR1))
            _exit(0);
        usleep(2000); /* slower than any handler: the program must get on */
    }
    return child;
}
static void *worker(void *x)
{
    pid_t child;
    before();
    child = fork();
    if (!child)
        return NULL; /* the child's last thread ends: no hook in between */
    waitpid(child, NULL, 0);
    after();
    return NULL;
}

int main(void)
{
    struct sigaction action = { .sa_handler = allocates, .sa_flags = SA_RESTART };
    pthread_t t;
    pid_t me = getpid(), outside;

    pthread_create(&t, NULL, worker, NULL);
    pthread_join(t, NULL);

    sigaction(SIGUSR1, &action, NULL);
    outside = signals_from_outside();
    for (int i = 0; i < 300; i++) {
        pid_t child = fork();
        if (!child)
            _exit(0);
        waitpid(child, NULL, 0);
    }
    wanted = 100;
    action.sa_handler = forks_itself;
    sigaction(SIGUSR1, &action, NULL);
    while (forks < wanted) {
        churn();
        if (getpid() != me)
            _exit(0);
    }
    kill(outside, SIGKILL);
    waitpid(outside, NULL, 0);
    printf("went through\n");
    return 0;
}
