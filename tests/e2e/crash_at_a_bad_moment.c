// In the allocator with its lock held, in the middle of a look, in many threads at once, in a fork child.
// CFLAGS: -O1 -g -fno-builtin
// RUN: for m in heap look many child early vfork; do
// RUN:   %t $m >/dev/null 2>&1; a=$?; %leak %t $m >/dev/null 2>&1; b=$?
// RUN:   [ $a = $b ] || echo "$m: status $a, with libleak $b"; echo "$m $b"; done
// RUN: %report store/*.leak
// EXPECT: ^heap 139$
// EXPECT: ^look 139$
// EXPECT: ^many 139$
// EXPECT: ^child 11$
// EXPECT: ^early 11$
// EXPECT: ^vfork 11$
// EXPECT: The crash was inside the allocator
// EXPECT: A leak check was in progress
// REFUSE: status
// JSON: [len(q.errors) for q in procs if q.argv[1] in ("heap", "look", "many")] == [1, 1, 1]
// JSON: {q.argv[1]: [len(r.errors) for r in procs if r.argv[1] == q.argv[1]] for q in procs if q.argv[1] in ("child", "early")} == {"child": [0, 1], "early": [0, 1]}
// JSON: [len(q.errors) for q in procs if q.argv[1] == "vfork"] == [0]
// JSON: any(f.function == "malloc_in_a_bad_heap" for q in procs for e in q.errors for f in e.frames)
// JSON: all(any(f.function in ("crash_here", "malloc_in_a_bad_heap") for f in e.frames) for q in procs for e in q.errors)

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

long libleak_snapshot(void) __attribute__((weak));
static volatile int zero;
static pthread_barrier_t barrier;

__attribute__((noinline)) static void *crash_here(void *argument)
{
    *(volatile int *)(long)zero = 1;
    return argument;
}

static void *sleeps(void *argument)
{
    for (;;)
        pause();
    return argument;
}

/* A free block whose neighbour in the list is nowhere: a second thread makes malloc take its lock. */
__attribute__((noinline)) static void malloc_in_a_bad_heap(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, sleeps, NULL);
    void **volatile freed = malloc(3000);
    void *volatile between = malloc(3000);
    free(freed);
    freed[1] = (void *)0x41410000;
    free(malloc(6000));
    free(between);
}

static void *looks(void *argument)
{
    for (;;)
        if (libleak_snapshot)
            libleak_snapshot();
        else
            pause();
    return argument;
}

static void *waits(void *argument)
{
    pthread_barrier_wait(&barrier);
    return crash_here(argument);
}

static int child_status(pid_t child)
{
    int status;
    waitpid(child, &status, 0);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 100;
}

int main(int argc, char **argv)
{
    const char *how = argv[1];
    pthread_t threads[8];
    pid_t child;
    void *volatile kept = malloc(1000);
    if (!strcmp(how, "heap"))
        malloc_in_a_bad_heap();
    if (!strcmp(how, "look")) {
        pthread_create(&threads[0], NULL, looks, NULL);
        usleep(30000);
        crash_here(NULL);
    }
    if (!strcmp(how, "many")) {
        pthread_barrier_init(&barrier, NULL, 8);
        for (int i = 0; i < 8; i++)
            pthread_create(&threads[i], NULL, waits, NULL);
        pthread_join(threads[0], NULL);
    }
    if (!strcmp(how, "vfork")) {
        if ((child = vfork()) == 0)
            crash_here(NULL);
        return child_status(child);
    }
    if ((child = fork()) == 0) {
        if (!strcmp(how, "child"))
            free(malloc(10)); /* it has an account already */
        crash_here(NULL);
    }
    return child_status(child);
}
