// quarantine=BYTES delays frees: the memory is not reused for a while, so a second free by an old owner is a
// double free and no valid free of a new block, found however long ago the first one was; it is not passed on.
// The quarantine is bounded, is no leak and goes to libc in the end; fork, realloc and exit work unchanged.
// CFLAGS: -O1 -g -fno-builtin -fno-optimize-sibling-calls
// RUN: export LIBLEAK_OPTIONS=quarantine=1m; %leak %t twice; %leak %t reused; %leak %t long; %leak %t realloc; %leak %t fork; %leak %t bounded; %leak %t threads; %leak %t large
// EXPECT: ^twice goes on$
// EXPECT: ^not the same memory$
// EXPECT: ^long goes on$
// EXPECT: ^realloc kept: old$
// EXPECT: ^child goes on$
// EXPECT: ^fork goes on$
// EXPECT: ^bounded: yes$
// EXPECT: ^threads go on$
// REFUSE: double free detected
// JSON: all(q.end.how == "exit" and q.end.value == 0 and named(q) and q.coverage.unknown_frees == 0 for q in procs)
// JSON: all(first("again", q) == ("once", line("once")) for q in procs[:3])
// JSON: [wrongs(q) for q in procs[:4]] == [{("double-free", "make", "again"): 2}, {("double-free", "make", "again"): 1}, {("double-free", "make", "again"): 1}, {("double-free", "make", "grow"): 1}]
// JSON: [wrongs(q) for q in procs[4:6]] == [{("double-free", "make", "again"): 1}] * 2
// JSON: [e.size for e in misuse(procs[0])] == [40] and len(misuse(procs[2])[0].freed.frames) > 2
// JSON: [wrongs(q) for q in procs[6:]] == [{}, {}, {}] and of("make", procs[6]).blocks == 0
// JSON: procs[6].totals.frees >= 100000 and all(r.verdict != "lost" for q in procs for r in q.records)

#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define FAR __attribute__((noinline))

FAR char *make(size_t size) { return malloc(size); }
FAR void once(char *p) { free(p); } // once
FAR void again(char *p) { free(p); }
FAR char *grow(char *p) { return realloc(p, 100); }

static void *work(void *passed)
{
    char *kept[64] = {0};
    for (int i = 0; i < 20000; i++) {
        once(kept[i % 64]);
        kept[i % 64] = make(16 + i % 500);
        memset(kept[i % 64], i, 16);
    }
    for (int i = 0; i < 64; i++)
        once(kept[i]);
    return passed;
}

static int is(char **argv, const char *what)
{
    return strcmp(argv[1], what) == 0;
}

int main(int argc, char **argv)
{
    char *p = make(40), *q;
    pthread_t threads[4];

    setvbuf(stdout, NULL, _IONBF, 0);
    strcpy(p, "old");
    if (is(argv, "twice")) {
        once(p);
        for (volatile int i = 0; i < 2; i++)
            again(p);
        puts("twice goes on");
    } else if (is(argv, "reused")) {
        once(p);
        q = make(40);
        puts(p == q ? "the same memory" : "not the same memory");
        again(p);
        free(q);
    } else if (is(argv, "long")) { /* more frees ago than a thread's ring remembers */
        once(p);
        for (int i = 0; i < 2000; i++)
            free(make(40));
        again(p);
        puts("long goes on");
    } else if (is(argv, "realloc")) {
        once(p);
        q = grow(p);
        printf("realloc kept: %s\n", q);
        free(q);
    } else if (is(argv, "fork")) {
        once(p);
        if (fork() == 0) {
            again(p);
            puts("child goes on");
            _exit(0);
        }
        wait(NULL);
        again(p);
        puts("fork goes on");
    } else if (is(argv, "bounded")) {
        once(p);
        for (int i = 0; i < 100000; i++)
            once(make(1000)); /* 100 MB in all */
        puts(mallinfo2().uordblks < 3 << 20 ? "bounded: yes" : "bounded: no");
    } else if (is(argv, "threads")) {
        once(p);
        for (int i = 0; i < 4; i++)
            pthread_create(&threads[i], NULL, work, NULL);
        for (int i = 0; i < 4; i++)
            pthread_join(threads[i], NULL);
        puts("threads go on");
    } else {
        once(p);
        once(make(1 << 20));
    }
}
