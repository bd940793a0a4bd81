// Every entry point of the malloc family, freed and not: blocks, bytes, kinds and totals are exact.
// CFLAGS: -O2 -g -fno-builtin
// CFLAGS: -O0 -g
// RUN: %leak %t 3
// RUN: %leak %t 0
// EXPECT: same answers: 3
// JSON: (of("leak_malloc").blocks, of("leak_malloc").bytes, of("leak_malloc").kinds) == (3, 300, ["malloc"])
// JSON: (of("leak_calloc").blocks, of("leak_calloc").bytes, of("leak_calloc").kinds) == (3, 3 * 77, ["malloc"])
// JSON: (of("leak_realloc_null").blocks, of("leak_realloc_null").bytes) == (3, 300)
// JSON: (of("leak_realloc_grown").blocks, of("leak_realloc_grown").bytes) == (3, 3 * 50000)
// JSON: (of("leak_realloc_shrunk").blocks, of("leak_realloc_shrunk").bytes) == (3, 30)
// JSON: (of("leak_reallocarray").blocks, of("leak_reallocarray").bytes, of("leak_reallocarray").kinds) == (3, 3 * 77, ["malloc"])
// JSON: (of("leak_posix_memalign").blocks, of("leak_posix_memalign").bytes, of("leak_posix_memalign").kinds) == (3, 300, ["memalign"])
// JSON: (of("leak_aligned_alloc").blocks, of("leak_aligned_alloc").bytes, of("leak_aligned_alloc").kinds) == (3, 3 * 128, ["memalign"])
// JSON: (of("leak_memalign").blocks, of("leak_memalign").bytes, of("leak_memalign").kinds) == (3, 300, ["memalign"])
// JSON: (of("leak_valloc").blocks, of("leak_valloc").bytes, of("leak_valloc").kinds) == (3, 300, ["memalign"])
// JSON: (of("leak_pvalloc").blocks, of("leak_pvalloc").bytes, of("leak_pvalloc").kinds) == (3, 3 * 4096, ["memalign"])
// JSON: (of("leak_strdup").blocks, of("leak_strdup").bytes) == (3, 18)
// JSON: (of("leak_zero").blocks, of("leak_zero").bytes) == (3, 0)
// JSON: of("freed").blocks == 0
// JSON: of("freed_otherwise").blocks == 0
// JSON: p.totals.allocations - procs[1].totals.allocations == 3 * (15 + 14 + 3)
// JSON: p.totals.frees - procs[1].totals.frees == 3 * (2 + 14 + 3)
// JSON: p.totals.live_blocks - procs[1].totals.live_blocks == 3 * 13
// JSON: p.coverage.unknown_frees == 0

#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FAR __attribute__((noinline))
void *volatile sink;

FAR void leak_malloc(void)
{
    sink = malloc(100);
}
FAR void leak_calloc(void)
{
    sink = calloc(7, 11);
}
FAR void leak_realloc_null(void)
{
    sink = realloc(NULL, 100);
}
FAR void leak_realloc_grown(void)
{
    sink = realloc(malloc(10), 50000);
}
FAR void leak_realloc_shrunk(void)
{
    sink = realloc(malloc(5000), 10);
}
FAR void leak_reallocarray(void)
{
    sink = reallocarray(NULL, 7, 11);
}
FAR void leak_posix_memalign(void)
{
    void *p;
    if (posix_memalign(&p, 64, 100))
        abort();
    sink = p;
}
FAR void leak_aligned_alloc(void)
{
    sink = aligned_alloc(64, 128);
}
FAR void leak_memalign(void)
{
    sink = memalign(32, 100);
}
FAR void leak_valloc(void)
{
    sink = valloc(100);
}
FAR void leak_pvalloc(void)
{
    sink = pvalloc(4096);
}
FAR void leak_strdup(void)
{
    sink = strdup("hello");
}
FAR void leak_zero(void)
{
    sink = malloc(0);
}

/* 14 allocations and frees. */
FAR void freed(void)
{
    void *p;

    free(malloc(100));
    free(calloc(7, 11));
    free(realloc(NULL, 100));
    free(realloc(malloc(10), 50000));
    free(reallocarray(NULL, 7, 11));
    if (posix_memalign(&p, 64, 100))
        abort();
    free(p);
    free(aligned_alloc(64, 128));
    free(memalign(32, 100));
    free(valloc(100));
    free(pvalloc(100));
    free(strdup("hello"));
    free(malloc(0));
    if (realloc(malloc(100), 0))
        abort(); /* glibc: a free */
    free(NULL);
}

/* 3 of each. */
FAR void freed_otherwise(void)
{
    void (*old)(void *) = dlsym(RTLD_DEFAULT, "cfree");
    void (*sized)(void *, size_t) = dlsym(RTLD_DEFAULT, "free_sized");
    void (*aligned)(void *, size_t, size_t) = dlsym(RTLD_DEFAULT, "free_aligned_sized");

    if (old)
        old(malloc(100));
    else
        free(malloc(100));
    if (sized)
        sized(malloc(100), 100);
    else
        free(malloc(100));
    if (aligned)
        aligned(aligned_alloc(64, 128), 64, 128);
    else
        free(malloc(100));
}

int main(int argc, char **argv)
{
    int n = atoi(argv[1]), good = 0;

    for (int i = 0; i < n; i++) {
        leak_malloc();
        leak_calloc();
        leak_realloc_null();
        leak_realloc_grown();
        leak_realloc_shrunk();
        leak_reallocarray();
        leak_posix_memalign();
        leak_aligned_alloc();
        leak_memalign();
        leak_valloc();
        leak_pvalloc();
        leak_strdup();
        leak_zero();
        freed();
        freed_otherwise();
    }
    for (int i = 0; i < n; i++)
        good += malloc_usable_size(sink) >= 3 * sizeof(void *) && malloc_usable_size(NULL) == 0;
    dprintf(1, "same answers: %d\n", good);
    return 0;
}
