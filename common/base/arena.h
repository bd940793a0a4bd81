/* arena.h - memory of the tools: arenas, growing arrays, and the search in sorted arrays.
 *
 * A report lives in one arena (struct arena) and is freed with it in one call, so no other file
 * frees single objects of it. A growing array is malloc'd and belongs to its owner, who frees it.
 * When memory runs out the program prints one line and exits with status 2: a tool that reads has
 * nothing to save. Includes no other header of the project.
 */
#ifndef COMMON_BASE_ARENA_H
#define COMMON_BASE_ARENA_H

#include <stdbool.h>
#include <stddef.h>

struct arena;

struct arena *arena_begin(void);
void arena_end(struct arena *arena); /* does nothing if arena is NULL */

/* Returns zeroed memory, aligned for every type. Exits when memory runs out. */
void *arena_alloc(struct arena *arena, size_t size);
void *arena_alloc_array(struct arena *arena, size_t count, size_t size);
/* Copies `length` bytes of a text, and appends a NUL. */
char *arena_copy(struct arena *arena, const char *text, size_t length);
/* Copies a whole text; NULL for NULL. */
char *arena_copy_text(struct arena *arena, const char *text);
char *arena_format(struct arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Reallocates an array of items of `size` bytes so that it holds at least `needed` of them. Returns
 * the array, which may have moved; sets *capacity. */
void *array_grow(void *array, size_t *capacity, size_t needed, size_t size);

/* Compares two numbers for qsort: negative, 0 or positive. */
#define COMPARE(a, b) (((a) > (b)) - ((a) < (b)))

/* The index of the first of `count` sorted items that is not below the key; `count` when all are
 * below. Inline, so that the compiler can inline is_below as well. */
static inline size_t array_lower_bound(const void *items, size_t count, size_t size,
                                       bool (*is_below)(const void *item, const void *key),
                                       const void *key)
{
    size_t low = 0, high = count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (is_below((const char *)items + middle * size, key))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

#endif
