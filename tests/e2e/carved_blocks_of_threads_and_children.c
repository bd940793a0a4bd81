// Eight threads take blocks from pools of their own and give back their own and each other's blocks during leak
// checks: no release is reported as wrong, and each thread's leaks are exact to the block. A fork child inherits
// the pools: it gives back what its parent took, and its report lists its own leaks.
// CFLAGS: -O0 -g -fno-builtin
// CFLAGS: -O2 -g -fno-builtin -fno-optimize-sibling-calls
// EXPECT: ^looks: yes$
// JSON: len(procs) == 2 and all(not misuse(q) and q.coverage.unknown_frees == 0 for q in procs)
// JSON: verdict("lost_of_a_thread", procs[0]) == {"lost": (8 * 25, 8 * 25 * 48)}
// JSON: verdict("kept", procs[0]) == {"reachable": (8, 8 * 64)} and not verdict("come_and_go", procs[0])
// JSON: not verdict("kept", procs[1]) # what was inherited is the parent's
// JSON: verdict("lost_of_the_child", procs[1]) == {"lost": (3, 3 * 32)} and not verdict("lost_of_the_child", procs[0])
// JSON: all(q.end.how == "exit" and q.end.value == 0 for q in procs)

#include "lib/verdicts.h"
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>

enum { THREADS = 8, EACH = 1 << 21 };
static char *memory;
static int pools[THREADS];
static void *volatile keep[THREADS];
static void *hand[THREADS]; /* from one thread to the next */

FAR static void *take(int n, char **next, size_t size)
{
    char *p = *next;

    *next += 64;
    LIBLEAK_POOL_ALLOC(&pools[n], p, size);
    return opaque(p);
}
FAR static void *lost_of_a_thread(int n, char **next) { return take(n, next, 48); }
FAR static void *kept(int n, char **next) { return take(n, next, 64); }
FAR static void come_and_go(int n, char *at)
{
    void *mine[20], **handed;

    for (int i = 0; i < 20; i++)
        mine[i] = take(n, &at, 40);
    for (int i = 0; i < 20; i++)
        LIBLEAK_POOL_FREE(&pools[n], mine[i]);
    LIBLEAK_BLOCK_NEW(at, 24);
    /* What the one before has handed on is given back here. */
    handed = &hand[(n + 1) % THREADS];
    void *mine_to_give = __atomic_exchange_n(&hand[n], NULL, __ATOMIC_ACQ_REL), *none = NULL;
    if (mine_to_give)
        LIBLEAK_BLOCK_GONE(mine_to_give);
    if (!__atomic_compare_exchange_n(handed, &none, (void *)at, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        LIBLEAK_BLOCK_GONE(at);
}
FAR static void *work(void *argument)
{
    int n = (int)(long)argument;
    char *next = memory + 64 + (size_t)n * EACH; /* no global points there */

    LIBLEAK_POOL_CREATE(&pools[n], "of a thread");
    for (int i = 0; i < 25; i++)
        sink = lost_of_a_thread(n, &next);
    keep[n] = kept(n, &next);
    for (int round = 0; round < 500; round++)
        come_and_go(n, next + (size_t)round * 32 * 64); /* each at places of its own */
    return NULL;
}
FAR static void lost_of_the_child(void)
{
    char *at = memory + 64 + (size_t)THREADS * EACH;

    for (int i = 0; i < 3; i++)
        sink = take(0, &at, 32);
    sink = NULL;
}

int main(void)
{
    pthread_t thread[THREADS];
    int status = 1;

    memory = mmap(NULL, (size_t)(THREADS + 1) * EACH, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    for (long i = 0; i < THREADS; i++)
        pthread_create(&thread[i], NULL, work, (void *)i);
    long looks = look() >= 0 && look() >= 0 && look() >= 0;
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    printf("looks: %s\n", looks ? "yes" : "no");
    fflush(stdout);
    for (int i = 0; i < THREADS; i++)
        if (hand[i])
            LIBLEAK_BLOCK_GONE(hand[i]);
    sink = NULL;
    pid_t pid = fork();
    if (pid == 0) {
        for (int i = 0; i < THREADS; i += 2) {
            LIBLEAK_POOL_FREE(&pools[i], keep[i]);
            keep[i] = NULL;
        }
        lost_of_the_child();
        scrub();
        return 0;
    }
    waitpid(pid, &status, 0);
    scrub();
    return WEXITSTATUS(status);
}
