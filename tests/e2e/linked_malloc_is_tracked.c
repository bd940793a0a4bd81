// A malloc that is linked into the program, in a variable of it and in mappings: its blocks are counted once each, what
// it calls of itself is part of the call, and what is lost of them is, and nothing that is held. By what the program
// exports, or by its symbol table when it exports nothing. The program does what it did, and no memory of it can be
// written to and run.
// CFLAGS: -O0 -g -fno-builtin
// CFLAGS: -O2 -g -fno-builtin
// CFLAGS: -O2 -g -fno-builtin -no-pie
// CFLAGS: -O1 -g -fno-builtin -DHIDDEN -fvisibility=hidden
// CFLAGS: -O2 -g -fno-builtin -DHIDDEN -fvisibility=hidden -no-pie
// CFLAGS: -O2 -g -fno-builtin -falign-functions=1
// CFLAGS: -Os -g -fno-builtin
// CFLAGS: -O2 -g -fno-builtin %protect
// AFTER: cp %t %d/stripped; strip -g %d/stripped
// RUN: export LIBLEAK_OPTIONS=verbosity=1; %leak %t && %leak %d/stripped && %t
// EXPECT: ^all went well$
// EXPECT: the program's own malloc is tracked
// REFUSE: not tracked
// JSON: len(procs) == 2 and all(q.end.how == "exit" and q.end.value == 0 and not q.errors for q in procs)
// JSON: all("own" not in str(q.coverage.untracked).lower() for q in procs)
// JSON: all(verdict("lose", q) == {"lost": (1, 100)} and verdict("lose_large", q) == {"lost": (1, 100000)} for q in procs)
// JSON: all(verdict("lose_chain", q)["indirect"] == (1, 24) and verdict("lose_chain", q)["lost"] == (1, 24) for q in procs)
// JSON: all(verdict("lose_aligned", q) == {"lost": (3, 300)} for q in procs)
// JSON: all(set(verdict("hold", q)) == {"reachable"} and verdict("hold", q)["reachable"] == (2, 64) for q in procs)
// JSON: all(of("come_and_go", q).blocks == 0 and q.coverage.unknown_frees == 0 for q in procs)
// JSON: all(q.totals.allocations == 510 + 2 * ("-DHIDDEN" not in "%s") and q.totals.frees == q.totals.allocations - 10 for q in procs)
// JSON: at("lose").line == line("here")

#include "lib/linked_malloc.c"

#include <stdio.h>
#include <stdlib.h>
#include <malloc.h>

#define FAR __attribute__((noinline, noclone))
static void *volatile sink;
static void **held;

FAR static void lose(void)
{
    sink = malloc(100); // here
    sink = NULL;
}

FAR static void lose_large(void)
{
    sink = malloc(100000);
    sink = NULL;
}

FAR static void lose_chain(void)
{
    void **first = malloc(24);
    memset(first, 0, 24);
    *first = malloc(24);
    memset(*first, 0, 24);
}

FAR static void lose_aligned(void)
{
    void *out = NULL;
    if (posix_memalign(&out, 256, 100) || (size_t)out % 256)
        abort();
    sink = aligned_alloc(64, 100);
    sink = memalign(128, 100);
    sink = out = NULL;
}

FAR static void hold(void)
{
    held = malloc(32);
    memset(held, 0, 32);
    held[1] = malloc(32);
    memset(held[1], 0, 32);
}

FAR static void come_and_go(void)
{
    char *block = malloc(10);
    memcpy(block, "something", 10);
    block = realloc(block, 1000);
    if (strcmp(block, "something"))
        abort();
    free(block);
    char *zero = calloc(100, 7);
    if (!zero || zero[699] || calloc((size_t)-1 / 2, 3) || errno != ENOMEM)
        abort();
    free(zero);
    free(memalign(1024, 10));
#ifndef HIDDEN /* then that is another allocator's */
    free(strdup("libc asks for it by name"));
#else
    free(malloc(25));
#endif
}

/* Nothing of what was there before stays in registers or on the stack. */
FAR static void wipe(void)
{
    volatile char room[4096];
    memset((char *)room, 0, sizeof room);
}

static int has_writable_code(void)
{
    char line[512], access[5];
    int found = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (fgets(line, sizeof line, maps))
        found |= sscanf(line, "%*s %4s", access) == 1 && access[1] == 'w' && access[2] == 'x';
    fclose(maps);
    return found;
}

int main(void)
{
    hold(); /* what is freed before the first block, or behind the last, may be another's variable */
    if (has_writable_code())
        abort();
    lose();
    lose_large();
    lose_chain();
    lose_aligned();
    for (int i = 0; i < 100; i++)
        come_and_go();
    wipe();
    puts("all went well");
    return !held;
}
