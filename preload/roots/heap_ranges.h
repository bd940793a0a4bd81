/* heap_ranges.h - which parts of the anonymous memory belong to an allocator.
 *
 * There only live blocks may be read: a freed block still holds its old pointers. All other
 * anonymous memory (arenas of interpreters, hand-made pools) belongs to the program and may hold
 * its only pointers. glibc's parts are recognized by its own data: the break, its 64 MiB heaps, and
 * blocks with a mapping of their own. For any other allocator each mapping that holds a block
 * counts as a whole.
 */
#ifndef PRELOAD_ROOTS_HEAP_RANGES_H
#define PRELOAD_ROOTS_HEAP_RANGES_H

#include "preload/elf/procmaps.h"
#include "preload/mark/reachability.h"

struct heap_range {
    uintptr_t start, end;
};

struct heap_ranges {
    struct heap_range *range; /* ascending, disjoint */
    uint32_t count;
};

/* Finds the ranges of the heap. glibc: the allocator is the C library's. Call after
 * reach_build_index. */
bool heap_ranges_find(const struct procmaps *maps, const struct reach *reach, bool glibc,
                      struct heap_ranges *out);

/* ---- A heap that existed before libleak -------------------------------------------------------
 * When libleak is loaded into a running process, unknown blocks lie between the known ones and may
 * hold pointers to them. So such a heap is a root, except the known blocks, which are nodes, and
 * the memory that glibc has free. glibc's chunks are contiguous, each with its size in front, and
 * the next chunk tells whether one is free. The walk begins at the start of the heap and again
 * behind each known block; where a size is implausible the rest is a root. A chunk in a thread's
 * cache (tcache) is not marked free, but its second word holds a key that is drawn for each
 * process. */

/* Learns that key; call once, before the first leak check. */
void heap_ranges_learn_tcache_key(void);
/* Is the chunk in a thread's cache? */
bool heap_ranges_is_cached(uintptr_t chunk);

/* Visits the ranges that are no roots, ascending and disjoint. */
void heap_ranges_each_non_root(const struct heap_ranges *heaps, const struct reach *reach,
                               bool glibc,
                               void (*visit)(uintptr_t start, size_t size, void *context),
                               void *context);

#endif
