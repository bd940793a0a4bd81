/* census.c - counts the allocations of a program, its live blocks and their peak.
 *
 * This preload library counts calls and forwards them. The three numbers are in a shared mapping of
 * the file $CENSUS, so they are correct however the program ends; the numbers of processes that
 * share the file are added up. Do not measure time with it: all threads share the counters.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bench/pool.h"

struct counts {
    uint64_t allocations; /* including reallocs */
    uint64_t live, peak;  /* number of live blocks, and its peak */
};

static struct counts unread, *counts = &unread;

static void *(*real_malloc)(size_t);
static void (*real_free)(void *);
static void *(*real_calloc)(size_t, size_t);
static void *(*real_realloc)(void *, size_t);
static void *(*real_aligned_alloc)(size_t, size_t);
static int (*real_posix_memalign)(void **, size_t, size_t);

static int looking;

static void share_counts(void)
{
    const char *path = getenv("CENSUS");
    int fd = path ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1;
    if (fd < 0)
        return;
    void *map = MAP_FAILED;
    if (ftruncate(fd, sizeof *counts) == 0)
        map = mmap(NULL, sizeof *counts, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (map != MAP_FAILED)
        counts = map;
}

/* Looks up the real functions at the first call, which may come from a constructor of another
 * library. */
static int find(void)
{
    if (looking)
        return 0;
    looking = 1;
    real_free = (void (*)(void *))dlsym(RTLD_NEXT, "free");
    real_calloc = (void *(*)(size_t, size_t))dlsym(RTLD_NEXT, "calloc");
    real_realloc = (void *(*)(void *, size_t))dlsym(RTLD_NEXT, "realloc");
    real_aligned_alloc = (void *(*)(size_t, size_t))dlsym(RTLD_NEXT, "aligned_alloc");
    real_posix_memalign = (int (*)(void **, size_t, size_t))dlsym(RTLD_NEXT, "posix_memalign");
    real_malloc = (void *(*)(size_t))dlsym(RTLD_NEXT, "malloc");
    share_counts();
    return 1;
}

#define KNOWN(real) ((real) != NULL || find())

static void *born(void *block)
{
    if (!block)
        return NULL;
    __atomic_add_fetch(&counts->allocations, 1, __ATOMIC_RELAXED);
    uint64_t live = __atomic_add_fetch(&counts->live, 1, __ATOMIC_RELAXED);
    uint64_t peak = __atomic_load_n(&counts->peak, __ATOMIC_RELAXED);
    while (live > peak && !__atomic_compare_exchange_n(&counts->peak, &peak, live, 1,
                                                       __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
    return block;
}

void *malloc(size_t size)
{
    return KNOWN(real_malloc) ? born(real_malloc(size)) : from_pool(size);
}

void *calloc(size_t count, size_t size)
{
    return KNOWN(real_calloc) ? born(real_calloc(count, size)) : from_pool(count * size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return KNOWN(real_aligned_alloc) ? born(real_aligned_alloc(alignment, size)) : NULL;
}

int posix_memalign(void **block, size_t alignment, size_t size)
{
    if (!KNOWN(real_posix_memalign))
        return ENOMEM;
    int error = real_posix_memalign(block, alignment, size);
    if (!error)
        born(*block);
    return error;
}

void free(void *block)
{
    if (!block || in_pool(block) || !KNOWN(real_free))
        return;
    __atomic_sub_fetch(&counts->live, 1, __ATOMIC_RELAXED);
    real_free(block);
}

void *realloc(void *block, size_t size)
{
    if (!block)
        return malloc(size);
    if (in_pool(block))
        return leave_pool(block, size);
    void *moved = real_realloc(block, size);
    if (moved)
        __atomic_add_fetch(&counts->allocations, 1, __ATOMIC_RELAXED);
    else if (size == 0)
        __atomic_sub_fetch(&counts->live, 1, __ATOMIC_RELAXED);
    return moved;
}
