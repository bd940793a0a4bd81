/* glibc_heap.h - reads the heap of glibc's malloc from outside of the process: its arenas, their
 * chunks, and how much of each is in use.
 *
 * struct malloc_state has two layouts for each size of words; the one that fits the memory is
 * used. free_lists.h describes thread caches and links of lists, mapped_chunks.h chunks with a
 * mapping of their own. The version of glibc is in libc's read-only data; other versions than
 * 2.30 to 2.43 are refused. Offsets of the fields in bytes:
 *
 *     64 bits                32 bits
 *     to 2.42     2.43       to 2.42     2.43
 *     0           0          0           0      int mutex, flags; before 2.43 have_fastchunks
 *     16          -          12          -      fast bins, ten or eleven pointers to chunks
 *     96          8          56          8      top; then last_remainder
 *     112         24         64          16     bins: 127 pairs of pointers (fd, bk); an empty
 *                                               pair points to two words before itself, as if
 *                                               a chunk began there
 *     2144        2056       1080        1032   binmap
 *     2160        2072       1096        1048   next arena, a ring; then next_free and
 *                                               attached_threads
 *     2184        2096       1108        1060   system_mem; then max_system_mem
 *
 * So main_arena is found without a symbol: pair 127 is always empty, and the ring of arenas
 * leads back. Another arena is at the beginning of a heap. A heap begins at a multiple of 64
 * MiB, in a 32-bit program of 1 MiB (with glibc.malloc.hugetlb of another size), with a struct
 * heap_info: arena, previous heap, size. */
#ifndef SCAN_GLIBC_HEAP_H
#define SCAN_GLIBC_HEAP_H

#include "scan/heap/free_lists.h"
#include "scan/image/objects.h"

struct heap_arena {
    uint64_t address, top, system_bytes;
    uint64_t fast[FREE_LISTS_FAST_BINS];
    bool broken; /* a heap of the arena was not found or is damaged */
    /* Bytes and number of the arena's chunks, by state. */
    uint64_t bytes[CHUNK_STATES], count[CHUNK_STATES];
    uint64_t largest_hole; /* size of the largest free chunk except the top chunk */
};

/* A layout of struct malloc_state: offsets of its fields in bytes. */
struct arena_layout {
    unsigned word; /* size in bytes of the program's words, 8 or 4 */
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
    const char *found_in;   /* path of the object that contains main_arena */
    uint64_t unknown_bytes; /* bytes in damaged heaps that were not divided into chunks */
    bool lists_damaged;     /* the list of a fast bin does not end */
};

/* Finds and reads glibc's heap. False: there is none, and *trouble says why. */
bool glibc_heap_read(struct glibc_heap *heap, struct objects *objects, const char **trouble);
void glibc_heap_end(struct glibc_heap *heap);

/* Returns the size of an arena (struct malloc_state) in bytes. */
uint64_t glibc_heap_arena_size(const struct arena_layout *layout);

#endif
