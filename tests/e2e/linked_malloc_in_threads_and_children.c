// The same in eight threads at once, in a child of fork with threads of its own, and in a program that it starts: each
// block once, in the account of the process that has it, and each free finds its block.
// CFLAGS: -O2 -g -fno-builtin
// CFLAGS: -O1 -g -fno-builtin -no-pie
// EXPECT: ^all went well$
// JSON: len(procs) == 3 and all(q.end.how == "exit" and q.end.value == 0 and not q.errors for q in procs)
// JSON: [verdict("lose", q)["lost"] for q in procs] == [(80, 8000), (80, 8000), (1, 100)]
// JSON: all(of("come_and_go", q).blocks == 0 and q.coverage.unknown_frees == 0 for q in procs)
// JSON: "own" not in str([q.coverage.untracked for q in procs]).lower()
// JSON: procs[0].totals.allocations >= 8 * (10 + 3 * 1000)

#include "lib/linked_malloc.c"

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define FAR __attribute__((noinline, noclone))
static __thread void *volatile sink;

FAR static void lose(void)
{
    sink = memset(malloc(100), 0, 100); /* a list of free ones went through it */
    sink = NULL;
}

FAR static void come_and_go(int i)
{
    char *block = malloc(i % 300);
    block = realloc(block, i % 700 + 1);
    free(block);
    free(calloc(1, i % 50));
}

static void *run(void *unused)
{
    for (int i = 0; i < 1000; i++)
        come_and_go(i);
    for (int i = 0; i < 10; i++)
        lose();
    return NULL;
}

static void in_threads(void)
{
    pthread_t thread[8];
    for (int i = 0; i < 8; i++)
        pthread_create(&thread[i], NULL, run, NULL);
    for (int i = 0; i < 8; i++)
        pthread_join(thread[i], NULL);
}

/* Nothing is inherited that is lost: the child comes first. */
int main(int argc, char **argv)
{
    int status;
    if (argc > 1) {
        lose();
        return 0;
    }
    if (fork() == 0) {
        in_threads();
        exit(0);
    }
    wait(&status);
    if (status)
        return 1;
    in_threads();
    if (fork() == 0) {
        execl("/proc/self/exe", argv[0], "again", NULL);
        _exit(2);
    }
    wait(&status);
    puts("all went well");
    return status;
}
