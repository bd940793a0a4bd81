// A fork child goes on under the tags that its thread had, and knows what it inherited by its tags; what it pushes
// and pops is its own. A new thread begins without tags, also in the child.
// CFLAGS: -O1 -g -fno-builtin
// RUN: LIBLEAK_OPTIONS=exit_look=off; export LIBLEAK_OPTIONS; %leak %t; for s in store/*.leak; do %report --inherited --by=tag "$s" | sed 's/^/inherited: /'; done
// EXPECT: ^child mesh 0 110 own 0 20, popped 0 0 -1$
// EXPECT: ^grandchild mesh 0 115 own 0 20$
// EXPECT: ^parent mesh 0 100 own -1 0, popped 0 -1$
// EXPECT: ^inherited: .* 110 +11 +2  mesh$
// EXPECT: ^inherited: .* 115 +12 +2  mesh$
// JSON: sorted(sum(t.bytes for r in q.records for t in r.tags if t.name == "mesh") for q in procs) == [5, 10, 100]
// JSON: sorted(sum(t.bytes for r in q.records for t in r.tags if t.name == "own") for q in procs) == [0, 0, 20]
// JSON: sorted(of("in_thread", q).bytes for q in procs) == [0, 0, 3]
// JSON: all(r.tags == [] for q in procs for r in hits("in_thread", q))

#include "../../include/libleak.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void *volatile sink;

__attribute__((noinline)) static void before_fork(void) { for (int i = 0; i < 10; i++) sink = malloc(10); }
__attribute__((noinline)) static void *in_thread(void *unused) { sink = malloc(3); return unused; }
__attribute__((noinline)) static void in_child(size_t size) { sink = malloc(size); }

static long long bytes_of(const char *name, int *known)
{
    struct libleak_counts counts;
    *known = LIBLEAK_COUNT_TAG(name, &counts);
    return counts.live_bytes;
}

static void tell(const char *who, const char *end)
{
    int mesh, own;
    long long mesh_bytes = bytes_of("mesh", &mesh), own_bytes = bytes_of("own", &own);
    printf("%s mesh %d %lld own %d %lld%s", who, mesh, mesh_bytes, own, own_bytes, end);
    fflush(stdout);
}

static void wait_for(pid_t pid)
{
    int status = 1;
    if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
        abort();
}

static void child(void)
{
    in_child(10);
    LIBLEAK_TAG_PUSH("own");
    in_child(20);
    int first = LIBLEAK_TAG_POP();
    pid_t pid = fork();
    if (!pid) {
        in_child(5);
        tell("grandchild", "\n");
        _exit(0);
    }
    wait_for(pid);
    tell("child", ", popped ");
    int second = LIBLEAK_TAG_POP();
    printf("%d %d %d\n", first, second, LIBLEAK_TAG_POP());
    fflush(stdout);
    LIBLEAK_TAG_PUSH("other");
    pthread_t thread;
    if (pthread_create(&thread, NULL, in_thread, NULL))
        abort();
    pthread_join(thread, NULL);
    _exit(0);
}

int main(void)
{
    static char buffer[4096];
    setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
    LIBLEAK_TAG_PUSH("mesh");
    before_fork();
    pid_t pid = fork();
    if (!pid)
        child();
    wait_for(pid);
    tell("parent", ", popped ");
    int first = LIBLEAK_TAG_POP();
    printf("%d %d\n", first, LIBLEAK_TAG_POP());
    sink = NULL;
    return 0;
}
