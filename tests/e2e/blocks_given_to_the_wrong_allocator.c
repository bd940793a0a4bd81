// Two allocators and a block that goes to the wrong one: pools among each other, a pool's to free and to realloc,
// malloc's to a pool, a block of no pool to a pool; and what is given back twice, or never was one. Each is one
// error with both stacks, which names the heaps; what is given back rightly is none.
// CFLAGS: -O0 -g -fno-builtin
// CFLAGS: -O2 -g -fno-builtin -fno-optimize-sibling-calls
// ENV: LIBLEAK_OPTIONS=free_stacks=all:live_errors=on
// RUN: %leak %t; (%leak %t free) || echo "free: $?"; for s in store/*.leak; do %report --top=0 $s; done
// EXPECT: ^free: 134$
// EXPECT: mismatched-free: 100 bytes allocated from pool 'mesh', released to pool 'text' \(3 times\)$
// EXPECT: mismatched-free: 100 bytes allocated from pool 'mesh', released by free$
// EXPECT: mismatched-free: 100 bytes allocated by malloc, released to pool 'text'$
// EXPECT: mismatched-free: 100 bytes allocated by malloc, released by libleak_block_gone$
// EXPECT: mismatched-free: 100 bytes allocated by a custom allocator, released to pool 'mesh'$
// EXPECT: mismatched-free: 100 bytes allocated from pool 'mesh', released by libleak_block_gone$
// EXPECT: mismatched-free: 100 bytes allocated from a pool, released to pool 'mesh'$
// EXPECT: invalid-free: libleak_pool_free of an address where no such block begins \(0x[0-9a-f]+\) in pool 'mesh'$
// EXPECT: ^libleak: mismatched-free: 100 bytes allocated from pool 'mesh', released to pool 'text', in to_text at .*; allocated in of_mesh
// JSON: wrongs(p)[("mismatched-free", "of_mesh", "to_text")] == 3
// JSON: wrongs(p) == {("mismatched-free", "of_mesh", "to_text"): 3, ("mismatched-free", "of_libc", "to_text"): 1, ("mismatched-free", "of_libc", "to_nopool"): 1, ("mismatched-free", "of_nopool", "to_mesh"): 1, ("mismatched-free", "of_mesh", "to_nopool"): 1, ("mismatched-free", "of_unnamed", "to_mesh"): 1, ("double-free", "of_mesh", "to_mesh"): 1, ("double-free", "of_nopool", "to_nopool"): 1, ("interior-free", "of_mesh", "to_mesh"): 1, ("invalid-free", "", "to_mesh"): 1}
// JSON: wrongs(procs[1]) == {("mismatched-free", "of_mesh", "to_free"): 1}
// JSON: named(p)
// JSON: {(e.pool, e.to_pool) for e in misuse(p) if e.type == "mismatched-free"} == {("mesh", "text"), (None, "text"), (None, None), (None, "mesh"), ("mesh", None)}
// JSON: all(e.allocated and e.allocated.frames and e.freed.frames for e in misuse(p) if e.type == "mismatched-free")
// JSON: p.coverage.unknown_frees == 0

#include "lib/verdicts.h"
#include <sys/mman.h>

static char *next;
static int mesh, text, unnamed;

FAR static void *carve(void)
{
    next += 128;
    return next;
}
#define OF(name, pool)                                                                             \
    FAR static void *name(void)                                                                    \
    {                                                                                              \
        void *p = carve();                                                                         \
                                                                                                   \
        LIBLEAK_POOL_ALLOC(&pool, p, 100);                                                         \
        return p;                                                                                  \
    }
OF(of_mesh, mesh)
OF(of_text, text)
OF(of_unnamed, unnamed)
FAR static void *of_nopool(void)
{
    void *p = carve();

    LIBLEAK_BLOCK_NEW(p, 100);
    return p;
}
FAR static void *of_libc(void) { return malloc(100); }
FAR static void to_mesh(void *p) { LIBLEAK_POOL_FREE(&mesh, p); }
FAR static void to_text(void *p) { LIBLEAK_POOL_FREE(&text, p); }
FAR static void to_nopool(void *p) { LIBLEAK_BLOCK_GONE(p); }
FAR static void to_free(void *p) { free(p); }

int main(int argc, char **argv)
{
    char *p;

    next = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    LIBLEAK_POOL_CREATE(&mesh, "mesh");
    LIBLEAK_POOL_CREATE(&text, "text");
    if (argc > 1) { /* libc ends the process */
        to_free(of_mesh());
        return 0;
    }
    for (int i = 0; i < 100; i++) { /* as it should be */
        to_mesh(of_mesh());
        to_text(of_text());
        to_nopool(of_nopool());
        to_free(of_libc());
    }
    for (int i = 0; i < 3; i++)
        to_text(of_mesh());
    p = of_libc();
    to_text(p);
    to_free(p);
    p = of_libc();
    to_nopool(p);
    to_free(p);
    to_mesh(of_nopool());
    to_nopool(of_mesh());
    to_mesh(of_unnamed());
    p = of_mesh();
    to_mesh(p);
    to_mesh(p);
    p = of_nopool();
    to_nopool(p);
    to_nopool(p);
    p = of_mesh();
    to_mesh(p + 16);
    to_mesh(p);
    to_mesh(carve());
    LIBLEAK_POOL_DESTROY(&mesh);
    LIBLEAK_POOL_DESTROY(&text);
    return 0;
}
