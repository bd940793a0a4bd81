/* glibc_heap.h - the heap of glibc's malloc, found from outside: its arenas, their chunks, and how
 * much of each is in use.
 *
 * struct malloc_state has two layouts; that of a heap is the one whose shape fits. Caches of threads and
 * links of lists have forms of their own (free_lists.h), single chunks, too (mapped_chunks.h). The
 * version stands in libc's read-only data; one that is not 2.30 to 2.43 is refused.
 *
 *     2.27 to 2.42    2.43
 *     0               0       int mutex, flags; before 2.43 have_fastchunks
 *     16              -       fast bins, ten pointers to chunks
 *     96              8       top; then last_remainder
 *     112             24      bins: 127 pairs of pointers (fd, bk); an empty pair i points to the
 *                             address of the pair minus 16, as if a chunk began there
 *     2144            2056    binmap
 *     2160            2072    next arena: a ring; then next_free, attached_threads
 *     2184            2096    system_mem; then max_system_mem
 *
 * So main_arena is found without a symbol: pair 127 is always empty, and the ring of arenas leads
 * back. Other arenas stand at the beginning of a heap, which begins at a multiple of 64 MiB (or of
 * what glibc.malloc.hugetlb makes of it) with struct heap_info: arena, previous heap, size.
 */
#ifndef SCAN_GLIBC_HEAP_H
#define SCAN_GLIBC_HEAP_H

#include "scan/heap/heap_map.h"
#include "scan/image/objects.h"

#define ARENA_SIZE(bins) ((bins) + 2088u)

struct heap_arena {
    uint64_t address, top, system_bytes;
    uint64_t fast[10];
    bool broken; /* a heap of it could not be found or is damaged */
    /* Sums of the chunks, by state, and how many there are. */
    uint64_t bytes[CHUNK_STATES], count[CHUNK_STATES];
    uint64_t largest_hole; /* the largest free chunk but the top */
};

struct glibc_heap {
    struct heap_map chunks;
    struct heap_arena *arenas; /* main_arena first */
    size_t arena_count, arena_capacity;
    uint32_t bins; /* where they stand in an arena: its layout */
    uint64_t mapped_bytes, mapped_count;
    unsigned caches;
    const char *version;    /* "2.36"; NULL: unknown */
    const char *found_in;   /* path of the object that has main_arena */
    uint64_t unknown_bytes; /* of heaps that are damaged: not divided into chunks */
    bool lists_damaged;     /* a fast bin does not end */
};

/* Finds and reads glibc's heap. False: there is none, and *trouble says why: "REASON". */
bool glibc_heap_read(struct glibc_heap *heap, struct objects *objects, const char **trouble);
void glibc_heap_end(struct glibc_heap *heap);

#endif
