/* heap_ranges.h - finds out which parts of the anonymous memory belong to the allocator.
 *
 * In the memory of the allocator, a leak check may read only live blocks: a freed block still holds
 * its old pointers. All other anonymous memory (arenas of interpreters, hand-made pools) belongs to
 * the program and may hold its only pointers. The parts of glibc are recognised by glibc's own
 * data: the break, its 64 MiB heaps, and blocks with a mapping of their own. Of any other
 * allocator, each mapping with a block belongs to the allocator as a whole. */
#ifndef PRELOAD_ROOTS_HEAP_RANGES_H
#define PRELOAD_ROOTS_HEAP_RANGES_H

#include "preload/elf/procmaps.h"
#include "preload/mark/reachability.h"

struct heap_range {
    uintptr_t start, end;
};

struct heap_ranges {
    struct heap_range *range; /* array of ranges, ascending and disjoint */
    uint32_t count;
};

/* Finds the memory of the allocator. glibc: true if the allocator is the C library's. Called after
 * reach_build_index. False: there is no memory. */
bool heap_ranges_find(const struct procmaps *maps, const struct reach *reach, bool glibc,
                      struct heap_ranges *out);

/* ---- A heap that existed before libleak -------------------------------------------------------
 * When libleak is loaded into a running process, blocks that libleak has not recorded lie between
 * recorded ones and may hold pointers to them. So such a heap is a root, except recorded blocks,
 * which are nodes, and free memory. glibc's chunks are contiguous, each with its size in front, and
 * the header of the next chunk says whether a chunk is free. So libleak goes from chunk to chunk,
 * from the start of the heap and again from behind each recorded block; if a size is implausible
 * the rest of the heap is a root. A chunk in a thread's cache (tcache) is not marked as free, but
 * its second word holds a key, a random number of the process. */

/* Learns the key by which glibc marks chunks in a thread's cache; called once, before the first
 * leak check. */
void heap_ranges_learn_tcache_key(void);
/* Says whether a chunk is in a thread's cache. */
bool heap_ranges_is_cached(uintptr_t chunk);

/* Visits the ranges of the heap that are no roots: recorded blocks and free memory. The ranges are
 * disjoint and in ascending order. */
void heap_ranges_each_non_root(const struct heap_ranges *heaps, const struct reach *reach,
                               bool glibc,
                               void (*visit)(uintptr_t start, size_t size, void *context),
                               void *context);

#endif
