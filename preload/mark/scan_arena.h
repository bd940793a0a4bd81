/* scan_arena.h - allocates the memory of a leak check: whole mappings from the kernel, within a
 * limit.
 *
 * The process in which a leak check runs makes a few large arrays and exits without freeing them.
 * Each array is a mapping of its own. The arena has a list of them, so a caller that fails half-way
 * just returns, and scan_arena_free frees the rest.
 *
 *     used = sum of the sizes of the mappings in use, each rounded up to pages, small or huge
 *     spare = sum of the sizes of the mappings that were freed and are kept
 *     used + spare <= most
 *
 * The kernel clears each new page, and in a virtual machine may have to get it from the host: a
 * tenth to half of the cost of a large check. So large mappings that were freed are kept and
 * divided for later arrays.
 *
 * Single-threaded. Nothing here calls malloc. */
#ifndef PRELOAD_MARK_SCAN_ARENA_H
#define PRELOAD_MARK_SCAN_ARENA_H

#include "preload/base/base.h"

#define SCAN_ARENA_MAPS 64

struct scan_arena {
    uint64_t most, used, spare;
    unsigned maps;
    struct scan_arena_mapping {
        void *memory;
        uint64_t size;
        uint32_t turn; /* serial number among all mappings that the arena ever made */
        bool parts;    /* the mapping is divided into parts for small arrays */
        bool spare;
    } map[SCAN_ARENA_MAPS];
    uint32_t turns;
    /* First free byte of the mapping that is divided into parts; left: how many bytes are free from
     * there on. */
    char *next;
    uint64_t left;
};

/* Allocates zeroed memory for count items of `each` bytes. NULL: the limit is reached, or the
 * kernel refuses. */
void *scan_arena_map(struct scan_arena *arena, uint64_t count, size_t each);
/* Allocates memory as scan_arena_map does, but does not clear it. */
void *scan_arena_map_raw(struct scan_arena *arena, uint64_t count, size_t each);
/* Enlarges an array from `before` to `count` items, which may move it; new items are uninitialized.
 * NULL: there is no memory, and the old array stays valid. */
void *scan_arena_grow(struct scan_arena *arena, void *memory, uint64_t before, uint64_t count,
                      size_t each);
/* Frees memory that the arena has allocated, or does nothing for NULL. */
void scan_arena_unmap(struct scan_arena *arena, void *memory);
void scan_arena_free(struct scan_arena *arena);
/* Returns to the kernel the memory that is kept for later arrays. */
void scan_arena_trim(struct scan_arena *arena);
/* Unmaps everything that was mapped since the caller copied *arena to *before. */
void scan_arena_rewind(struct scan_arena *arena, const struct scan_arena *before);

/* An array that grows at its end, and may move in memory then. A struct of zeros is an empty
 * array. */
struct scan_array {
    void *at;
    uint64_t count, capacity;
};

/* Reserves capacity in an empty array. False: there is no memory for it now; the array can still
 * grow when items are added. */
bool scan_array_reserve(struct scan_arena *arena, struct scan_array *array, uint64_t count,
                        size_t each);
bool scan_array_grow(struct scan_arena *arena, struct scan_array *array, size_t each);

/* Appends an item to an array. NULL: there is no memory. */
static ALWAYS_INLINE void *scan_array_push(struct scan_arena *arena, struct scan_array *array,
                                           size_t each)
{
    if (unlikely(array->count == array->capacity) && !scan_array_grow(arena, array, each))
        return NULL;
    return (char *)array->at + array->count++ * each;
}

void scan_array_free(struct scan_arena *arena, struct scan_array *array);

#endif
