/* scan_arena.h - the memory of a leak check: whole mappings from the kernel, within a limit.
 *
 * The process of a leak check makes a few large arrays and exits with them. Each array is a mapping
 * of its own; the arena knows all of them, so a caller that fails half-way just returns, and
 * scan_arena_free frees the rest.
 *
 *     used = sum of the sizes of the mappings in use, each rounded up to pages, small or huge
 *     spare = the same for mappings that were freed and are kept
 *     used + spare <= most
 *
 * The kernel clears each new page, and in a virtual machine may have to get it from the host: a
 * tenth to half of the cost of a large check. So large freed mappings are kept and cut up for later
 * arrays.
 *
 * Single-threaded. Nothing here calls malloc.
 */
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
        uint32_t turn; /* serial number among all mappings ever made */
        bool parts;    /* it is handed out in parts */
        bool spare;
    } map[SCAN_ARENA_MAPS];
    uint32_t turns;
    char *next; /* next free byte of the current part mapping, and how many are left */
    uint64_t left;
};

/* Zeroed memory for count items of so many bytes; NULL: above the limit, or the kernel refuses. */
void *scan_arena_map(struct scan_arena *arena, uint64_t count, size_t each);
/* The same, uninitialized. */
void *scan_arena_map_raw(struct scan_arena *arena, uint64_t count, size_t each);
/* Moves an array into a larger one and frees the old one; new items are uninitialized. On failure
 * the old array stays. */
void *scan_arena_grow(struct scan_arena *arena, void *memory, uint64_t before, uint64_t count,
                      size_t each);
/* Frees memory of the arena, which may be NULL. */
void scan_arena_unmap(struct scan_arena *arena, void *memory);
void scan_arena_free(struct scan_arena *arena);
/* Returns to the kernel what is kept for later arrays. */
void scan_arena_trim(struct scan_arena *arena);
/* Unmaps everything that was mapped after "before", a copy of the arena, was made. */
void scan_arena_rewind(struct scan_arena *arena, const struct scan_arena *before);

/* An array that grows at its end and may move then. Starts as zeros. */
struct scan_array {
    void *at;
    uint64_t count, capacity;
};

/* Reserves capacity in an empty array. False: it grows on demand instead. */
bool scan_array_reserve(struct scan_arena *arena, struct scan_array *array, uint64_t count,
                        size_t each);
bool scan_array_grow(struct scan_arena *arena, struct scan_array *array, size_t each);

/* A new item at the end, or NULL. */
static ALWAYS_INLINE void *scan_array_push(struct scan_arena *arena, struct scan_array *array,
                                           size_t each)
{
    if (unlikely(array->count == array->capacity) && !scan_array_grow(arena, array, each))
        return NULL;
    return (char *)array->at + array->count++ * each;
}

void scan_array_free(struct scan_arena *arena, struct scan_array *array);

#endif
