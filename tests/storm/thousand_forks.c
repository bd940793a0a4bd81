// 1,000 forks, nested ones too, while other threads of the parent allocate: each child's account holds
// exactly what it leaked, the parent's what its threads leaked, and nothing hangs.
// CFLAGS: -O1 -g -fno-builtin
// RUN: %leak %t >ledger
// JSON: len(ledger) == 1101 and len(procs) == 1101
// JSON: {str(q.pid): of("child_leak", q).blocks for q in procs if q.pid != p.pid} == {l[0]: int(l[1]) for l in ledger if l[0] != str(p.pid)}
// JSON: of("child_leak").blocks == 0 and of("thread_leak").blocks == int([l[1] for l in ledger if l[0] == str(p.pid)][0])
// JSON: all(of("child_leak", q).bytes == 100 * of("child_leak", q).blocks for q in procs)
// JSON: all(q.coverage.unknown_frees == 0 for q in procs)
// JSON: all(q.end.how == "exit" and q.end.value == 0 for q in procs)
// JSON: of("inherited").blocks == 64 and sum(of("inherited", q).blocks for q in procs) == 64

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define FAR __attribute__((noinline))
static __thread void *volatile sink;
static void *handed[64];
static atomic_long leaked;
static atomic_int stop;

FAR void inherited(void) { for (int i = 0; i < 64; i++) handed[i] = malloc(40); }
FAR void child_leak(int n) { while (n--) sink = malloc(100); sink = NULL; }
FAR void thread_leak(void) { sink = malloc(30); sink = NULL; }

static void *busy(void *x)
{
    for (unsigned i = 0; !stop; i++) {
        void *a = malloc(i % 3000), *b = calloc(1, 20);
        a = realloc(a, i % 777 + 1);
        if (i % 1000 == 0) {
            thread_leak();
            leaked++;
        }
        free(b);
        free(a);
    }
    return NULL;
}

static void say(int n)
{
    char line[64];
    int len = snprintf(line, sizeof line, "%d %d\n", getpid(), n);
    write(1, line, len);
}

static void child(int i)
{
    for (int k = 0; k < 64; k += 2)
        free(handed[k]);
    free(malloc(10));
    child_leak(i % 7 + 1);
    if (i % 10 == 0) {
        pid_t pid = fork();
        if (!pid) {
            child_leak(2);
            say(2);
            exit(0);
        }
        waitpid(pid, NULL, 0);
    }
    say(i % 7 + 1);
    if (i % 2)
        exit(0);
    _exit(0);
}

int main(void)
{
    pthread_t t[3];

    inherited();
    for (int i = 0; i < 3; i++)
        pthread_create(&t[i], NULL, busy, NULL);
    for (int i = 0; i < 1000; i++) {
        pid_t pid = fork();
        if (!pid)
            child(i);
        if (i >= 8)
            wait(NULL);
    }
    while (wait(NULL) > 0)
        ;
    stop = 1;
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], NULL);
    say(leaked);
    return 0;
}
