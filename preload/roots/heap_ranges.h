/* heap_ranges.h - which parts of the anonymous memory are an allocator's.
 *
 * There only live blocks may be read: a freed one still holds its old pointers. All else that is
 * anonymous (the arenas of interpreters, hand-made pools) is the program's own and may hold its
 * only pointers. glibc's parts are found by what it writes there: the break, its 64 MiB heaps, and
 * blocks with a mapping of their own. Of any other allocator each mapping that holds a block is
 * taken whole.
 */
#ifndef PRELOAD_ROOTS_HEAP_RANGES_H
#define PRELOAD_ROOTS_HEAP_RANGES_H

#include "preload/elf/procmaps.h"
#include "preload/mark/reachability.h"

struct heaps {
    struct heap {
        uintptr_t start, end;
    } * heap; /* ascending, apart */
    uint32_t count;
};

/* glibc: the allocator is the C library's. After reach_index. */
bool heaps_find(const struct maps *maps, const struct reach *reach, bool glibc, struct heaps *out);
/* By start. */
void heaps_sort(struct heap *list, uint32_t count);

#endif
