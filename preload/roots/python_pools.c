/* python_pools.c - finds Python's pools in anonymous memory and sets the words of their free objects
 * to 0: old pointers in them would make lost blocks seem reachable. Only the copy of the process in
 * which the leak check runs is changed, not the program. */
#include "preload/roots/python_pools.h"
#include "preload/python/python_layout.h"

#define STEP 16    /* sizes of objects are multiples of this */
#define CLASSES 32 /* number of size classes: objects have up to 512 bytes */
#define HEAD 48    /* size of the header of a pool, rounded up to STEP */
#define SHORT 4096 /* size and alignment of a pool until Python 3.9 */
#define LONG 16384 /* size and alignment of a pool since Python 3.10 */

struct pool {
    uint32_t used, padding; /* used: number of objects that are in use */
    uintptr_t free, next, previous;
    uint32_t arena, size_class;
    /* Offsets from the start of the pool: of the memory that was never carved into objects, and of
     * the last place for an object. */
    uint32_t carved_end, last;
};
_Static_assert(sizeof(uintptr_t) == 4 || sizeof(struct pool) == HEAD, "the layout of 64 bits");

static uint32_t object_size(const struct pool *pool)
{
    return (pool->size_class + 1) * STEP;
}

static bool is_object(const struct pool *pool, uintptr_t address)
{
    uintptr_t offset = address - (uintptr_t)pool - HEAD;
    return offset < pool->carved_end - HEAD && offset % object_size(pool) == 0;
}

/* Returns the next object in the list of free ones; the first word of a free object points to
 * it. */
static uintptr_t next_free(uintptr_t object)
{
    return *(const uintptr_t *)object;
}

static bool has_shape(const struct pool *pool, uint32_t length)
{
    if (pool->size_class >= CLASSES)
        return false;
    uint32_t size = object_size(pool);
    return pool->last == length - size && pool->carved_end > HEAD &&
           pool->carved_end <= pool->last + size && (pool->carved_end - HEAD) % size == 0;
}

/* Says whether the counts of the header agree: each carved place has an object or is in the list of
 * free ones. */
static bool adds_up(const struct pool *pool)
{
    uint32_t places = (pool->carved_end - HEAD) / object_size(pool), seen = pool->used;
    for (uintptr_t at = pool->free; at && seen <= places; at = next_free(at), seen++)
        if (!is_object(pool, at))
            return false;
    return seen == places;
}

/* Sets words to 0. It writes only words that are not 0: a page that is not written stays shared
 * with the process. */
static void clear_words(uintptr_t start, uintptr_t end)
{
    for (uintptr_t *word = (uintptr_t *)start; word < (uintptr_t *)end; word++)
        if (*word)
            *word = 0;
}

uint64_t python_pool_clear(uintptr_t address, uint32_t length)
{
    const struct pool *pool = (const struct pool *)address;
    if (!has_shape(pool, length) || !adds_up(pool))
        return 0;
    for (uintptr_t at = pool->free, next; at; at = next) {
        next = next_free(at);
        clear_words(at, at + object_size(pool));
    }
    clear_words(address + pool->carved_end, address + length);
    return pool->used;
}

uint64_t python_pools_clear(const struct roots *roots)
{
    const struct python_layout *layout = python_runtime.layout;
    uint64_t objects = 0;
    if (load_acquire(&python_runtime.state) == PYTHON_NONE || !layout)
        return 0;
    uint32_t length = layout->version >= 0x30a ? LONG : SHORT;
    for (uint32_t i = 0; i < roots->ranges.count; i++) {
        const struct scan_range *range = &roots->ranges.range[i];
        if (range->root_class != LEAK_ROOT_CLASS_ANON)
            continue;
        for (uintptr_t at = round_up(range->start, length);
             at < range->end && at + length <= range->whole_end; at += length)
            objects += python_pool_clear(at, length);
    }
    return objects;
}
