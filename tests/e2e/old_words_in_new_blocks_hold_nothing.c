// malloc, memalign and realloc hand out memory with the words of earlier blocks in it. The program has not written them
// into the new block, so they hold nothing, whatever its size; with fill=off they do. What the program writes to
// the same place holds, and realloc keeps what was written, up to the end of malloc_usable_size. So it is with
// other allocators, in a process with threads, and in a fork child.
// NEEDS: /usr/lib/x86_64-linux-gnu/libjemalloc.so.2 /usr/lib/x86_64-linux-gnu/libtcmalloc_minimal.so.4 /usr/lib/x86_64-linux-gnu/libmimalloc.so.2
// CFLAGS: -O0 -g -fno-builtin
// CFLAGS: -O2 -g -fno-builtin
// RUN: %leak %t && %leak %t thread && %leak %t fork && (export LIBLEAK_OPTIONS=fill=0x77; %leak %t) && MALLOC_PERTURB_=85 %leak %t && (export LIBLEAK_OPTIONS=fill=off; %leak %t) && for l in jemalloc.so.2 tcmalloc_minimal.so.4 mimalloc.so.2; do env "LD_PRELOAD=%O/libleak.so /usr/lib/x86_64-linux-gnu/lib$l" LIBLEAK_OPTIONS=dir=%d/store %t || exit; done
// JSON: len(procs) == 10
// JSON: verdict("small", procs[6]) == verdict("large", procs[6]) == verdict("paged", procs[6]) == {"reachable": (1, 56)}
// JSON: verdict("aligned", procs[6]) == verdict("grown", procs[6]) == verdict("moved", procs[6]) == {"reachable": (1, 56)}
// JSON: all(verdict(n, q) == {"lost": (1, 56)} for q in procs[:2] + procs[3:6] for n in ("small", "medium", "paged", "large", "aligned", "grown", "moved", "tail"))
// JSON: all(verdict(n, q) == {"lost": (1, 56)} for q in procs[7:] for n in ("small", "medium", "paged", "large", "aligned", "moved", "tail"))
// JSON: all(verdict("written", q) == verdict("kept", q) == verdict("usable", q) == {"reachable": (1, 56)} for q in procs if q.totals.allocations > 5)
// JSON: sum(q.totals.allocations > 5 for q in procs) == 9

#include "lib/verdicts.h"

#include <malloc.h>
#include <pthread.h>
#include <sys/wait.h>

TAKE(small, 56)
TAKE(medium, 56)
TAKE(paged, 56)
TAKE(large, 56)
TAKE(aligned, 56)
TAKE(grown, 56)
TAKE(moved, 56)
TAKE(tail, 56)
TAKE(written, 56)
TAKE(kept, 56)
TAKE(usable, 56)

static void *volatile held[32];
static unsigned count;

FAR static void hold(void *block)
{
    held[count++] = block;
}

/* A block whose words all point to the target is freed, and its memory joins no other. */
FAR static void leave_words(size_t size, void *target)
{
    void **block = malloc(size);

    hold(malloc(size > 1000 ? 1040 : 24));
    for (size_t i = 0; i < size / sizeof *block; i++)
        block[i] = target;
    free(opaque(block));
}

FAR static void grow_in_place(size_t size, size_t larger, void *target)
{
    void **block = malloc(size), **next = malloc(larger - size + 100);

    hold(malloc(1040));
    for (size_t i = 0; i < (larger - size + 100) / sizeof *next; i++)
        next[i] = target;
    free(opaque(next));
    memset(block, 0, size);
    hold(realloc(block, larger));
}

FAR static void *get_usable(void)
{
    void **block = malloc(25);
    size_t words = malloc_usable_size(block) / sizeof *block;

    memset(block, 0, words * sizeof *block);
    block[words - 1] = usable();
    return block;
}

FAR static void use_blocks(void)
{
    void **block;

    grow_in_place(2000, 6000, grown()); /* first: side by side at the end of the heap */
    leave_words(200, small());
    hold(malloc(200));
    leave_words(1000, medium());
    hold(malloc(1000));
    leave_words(4096, paged());
    hold(malloc(4096));
    leave_words(100000, large());
    hold(malloc(100000));
    leave_words(3000, aligned());
    hold(memalign(64, 2900));
    leave_words(7000, moved());
    hold(realloc(memset(malloc(48), 0, 48), 7000));
    leave_words(40, tail());
    hold(realloc(malloc(17), 40));
    block = memset(malloc(40), 0, 40);
    block[2] = kept();
    hold(realloc(block, 30000));
    hold(realloc(get_usable(), 300));
}

FAR static void write_blocks(void)
{
    void **block;

    leave_words(104, NULL);
    block = malloc(104);
    block[3] = written();
    hold(block);
}

static void *work(void *passed)
{
    use_blocks();
    write_blocks();
    return passed;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    int status = 0;

    if (argc > 1 && strcmp(argv[1], "thread") == 0) {
        pthread_create(&thread, NULL, work, NULL);
        pthread_join(thread, NULL);
    } else if (argc > 1) {
        if (fork() == 0) {
            work(NULL);
            exit(0);
        }
        wait(&status);
    } else {
        work(NULL);
    }
    return status != 0;
}
