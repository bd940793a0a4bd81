// __libc_malloc and its kin are the same heap by other names: blocks that come so are tracked, and whatever goes by one
// name may have come by the other. An address that such a block has again was freed before, and its free is
// right: no word about it. A library behind libleak whose malloc is made of them works.
// CFLAGS: -O1 -g -fno-builtin
// BUILD: gcc -O1 -shared -fPIC -fno-builtin -DBEHIND -o %d/behind.so %s
// RUN: %leak %t; LIBLEAK_OPTIONS=quarantine=1m; export LIBLEAK_OPTIONS; %leak %t; env "LD_PRELOAD=%O/libleak.so %d/behind.so" LIBLEAK_OPTIONS=dir=%d/store %t; LIBLEAK_OPTIONS=sample=1; %leak %t
// EXPECT: ^went well, again 1$
// REFUSE: double free
// JSON: len(procs) == 4 and all(misuse(q) == [] and q.coverage.unknown_frees == 0 and q.end.value == 0 for q in procs)
// JSON: all((of("lose", q).blocks, of("lose", q).bytes) == (5, 100 + 200 + 300 + 400 + 500) for q in procs)
// JSON: all(q.totals.live_blocks == of("lose", q).blocks for q in procs)

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);
void __libc_free(void *);

#ifdef BEHIND
/* 16 bytes before each block are the allocator's. */
void *malloc(size_t size)
{
    char *block = __libc_malloc(size + 16);
    return block ? block + 16 : NULL;
}
void free(void *block)
{
    if (block)
        __libc_free((char *)block - 16);
}
void *calloc(size_t n, size_t size)
{
    char *block = __libc_calloc(1, n * size + 16);
    return block ? block + 16 : NULL;
}
void *realloc(void *old, size_t size)
{
    char *block = __libc_realloc(old ? (char *)old - 16 : NULL, size + 16);
    return block ? block + 16 : NULL;
}
#else
void *volatile sink;

__attribute__((noinline)) static void lose(void)
{
    sink = __libc_malloc(100);
    sink = __libc_calloc(2, 100);
    sink = __libc_realloc(__libc_malloc(10), 300);
    sink = __libc_memalign(256, 400);
    sink = malloc(500);
    sink = NULL;
}

int main(void)
{
    int behind = getenv("LD_PRELOAD") && strstr(getenv("LD_PRELOAD"), "behind"), again = 0;
    for (int i = 0; i < 1000; i++) {
        void *old = malloc(40);
        uintptr_t address = (uintptr_t)old;
        free(old);
        void *block = __libc_malloc(40);
        again |= (uintptr_t)block == address;
        if (behind)
            __libc_free(block);
        else if (i % 2)
            free(block);
        else
            free(realloc(block, 50));
        if (!behind)
            __libc_free(malloc(40));
    }
    lose();
    write(1, behind ? "went well, again 1\n" : again ? "went well, again 1\n" : "went well, again 0\n", 19);
    return 0;
}
#endif
