// A program's own allocator carves blocks from a malloc'd arena, the first one at its very start, and tells of
// them: those that nothing points to are lost, with the stack where they were carved, those that something
// points to are not, and what one of them holds hangs on it alone. Words between the blocks are the arena's.
// When it is freed or unmapped they go, too.
// CFLAGS: -O0 -g -fno-builtin
// CFLAGS: -O2 -g -fno-builtin -fno-optimize-sibling-calls
// RUN: %leak %t malloc; %leak %t mmap; %leak %t static
// JSON: len(procs) == 3
// JSON: all(verdict("lost_one", q) == {"lost": (3, 300)} for q in procs)
// JSON: all(verdict("lost_ring", q).get("lost", (0, 0))[0] + verdict("lost_ring", q).get("indirect", (0, 0))[0] == 2 for q in procs)
// JSON: all(set(verdict("kept", q)) == {"reachable"} and verdict("kept", q)["reachable"] == (4, 400) for q in procs)
// JSON: all(verdict("held_by_a_block", q) == {"reachable": (1, 64)} for q in procs)
// JSON: all(verdict("held_by_the_rest", q) == {"reachable": (1, 80)} for q in procs)
// JSON: all(verdict("held_by_a_lost_one", q) == {"indirect": (1, 96)} for q in procs)
// JSON: set(verdict("arena_of_malloc", procs[0])) == {"reachable"}
// JSON: all({r.kind for r in q.records if any(f.function == "carve" for f in r.frames)} == {"custom"} for q in procs)
// JSON: all(not verdict("gone_with_its_arena", q) for q in procs)
// JSON: all(not misuse(q) for q in procs)

#include "lib/verdicts.h"
#include <sys/mman.h>

#define ARENA 65536
static char *arena, *next;
static char in_the_program[ARENA] __attribute__((aligned(16)));

FAR static void *arena_of_malloc(void) { return calloc(1, ARENA); }
FAR static void *carve(size_t size)
{
    char *p = next;

    next += (size + 15) / 16 * 16;
    LIBLEAK_BLOCK_NEW(p, size);
    return opaque(p);
}
FAR static void *kept(void) { return carve(100); }
FAR static void *held_by_a_block(void) { return malloc(64); }
FAR static void *held_by_the_rest(void) { return malloc(80); }
FAR static void *held_by_a_lost_one(void) { return malloc(96); }
FAR static void lost_one(void)
{
    void **p = carve(100);

    p[1] = NULL;
    sink = p;
    sink = NULL;
}
FAR static void lost_with_more(void)
{
    void **p = carve(48);

    p[2] = held_by_a_lost_one();
    sink = p;
    sink = NULL;
}
FAR static void lost_ring(void)
{
    void **a = carve(200), **b = carve(200);

    a[0] = b;
    b[0] = a;
}
FAR static void *gone_with_its_arena(void) { return carve(40); }

static void **volatile keep[4];
FAR static void use(void)
{
    void **head;

    for (int i = 0; i < 4; i++) {
        keep[i] = kept();
        lost_one();
        if (i == 2)
            lost_with_more(), lost_ring();
        if (i == 2)
            break;
    }
    keep[3] = kept();
    keep[0][3] = held_by_a_block();
    head = (void **)next; /* not given out: the arena's own */
    next += 64;
    head[1] = held_by_the_rest();
}
FAR static void come_and_go(int by_malloc)
{
    char *before = next;
    char *other = by_malloc ? malloc(ARENA) : mmap(NULL, ARENA, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    next = other;
    for (int i = 0; i < 100; i++)
        gone_with_its_arena();
    if (by_malloc)
        free(other);
    else
        munmap(other, ARENA);
    next = before;
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "malloc") == 0)
        arena = arena_of_malloc();
    else if (argc > 1 && strcmp(argv[1], "mmap") == 0)
        arena = mmap(NULL, ARENA, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    else
        arena = in_the_program;
    next = arena;
    use();
    come_and_go(1);
    come_and_go(0);
    arena = next = NULL;
    scrub();
    return 0;
}
