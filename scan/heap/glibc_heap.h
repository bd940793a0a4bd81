/* glibc_heap.h - the heap of glibc's malloc, found from outside: its arenas, their chunks, and how
 * much of each is in use.
 *
 * struct malloc_state has two layouts; that of a heap is the one whose shape fits. Caches of threads and
 * links of lists have forms of their own (free_lists.h), single chunks, too (mapped_chunks.h). The
 * version stands in libc's read-only data; one that is not 2.30 to 2.43 is refused.
 *
 *     64 bits                32 bits
 *     to 2.42     2.43       to 2.42     2.43
 *     0           0          0           0      int mutex, flags; before 2.43 have_fastchunks
 *     16          -          12          -      fast bins, ten or eleven pointers to chunks
 *     96          8          56          8      top; then last_remainder
 *     112         24         64          16     bins: 127 pairs of pointers (fd, bk); an empty pair points
 *                                               to two words before itself, as if a chunk began there
 *     2144        2056       1080        1032   binmap
 *     2160        2072       1096        1048   next arena: a ring; then next_free, attached_threads
 *     2184        2096       1108        1060   system_mem; then max_system_mem
 *
 * So main_arena is found without a symbol: pair 127 is always empty, and the ring of arenas leads
 * back. Other arenas stand at the beginning of a heap, which begins at a multiple of 64 MiB (32 bits: 1 MiB;
 * or what glibc.malloc.hugetlb makes of it) with struct heap_info: arena, previous heap, size.
 */
#ifndef SCAN_GLIBC_HEAP_H
#define SCAN_GLIBC_HEAP_H

#include "scan/heap/free_lists.h"
#include "scan/image/objects.h"

struct heap_arena {
    uint64_t address, top, system_bytes;
    uint64_t fast[FREE_LISTS_FAST_BINS];
    bool broken; /* a heap of it could not be found or is damaged */
    /* Sums of the chunks, by state, and how many there are. */
    uint64_t bytes[CHUNK_STATES], count[CHUNK_STATES];
    uint64_t largest_hole; /* the largest free chunk but the top */
};

/* A layout of struct malloc_state: offsets of fields in bytes. */
struct arena_layout {
    unsigned word; /* bytes */
    unsigned bins, fast, fast_bins;
};

struct glibc_heap {
    struct heap_map chunks;
    struct heap_arena *arenas; /* main_arena first */
    size_t arena_count, arena_capacity;
    const struct arena_layout *layout;
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

/* Bytes of an arena, struct malloc_state. */
uint64_t glibc_heap_arena_size(const struct arena_layout *layout);

#endif
