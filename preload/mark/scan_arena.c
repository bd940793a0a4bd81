/* scan_arena.c - allocates mappings for a leak check, and keeps a list of them, which is short: a
 * check has a few dozen mappings.
 *
 * Arrays are accessed at random: with small pages every access would miss the TLB as well, and
 * touching them page by page costs a small check as much as marking. So large arrays use huge
 * pages, and once a large array exists, smaller arrays are parts of one huge page. Small arrays are
 * always parts: the check of a small process has dozens of them, and would spend more time on
 * mapping them, and on a page for each, than on everything else. */
#include "preload/mark/scan_arena.h"
#include "preload/base/sys.h"
#include "leak_store.h"

#include <sys/mman.h>

#define HUGE (2ull << 20)
/* Once the arena has HUGE bytes, arrays from this size on are parts of a huge page. Arrays between
 * SMALL and this size always get a mapping of their own. */
#define PART_LEAST (HUGE / 64)
/* Arrays of up to SMALL bytes are always parts: of a mapping of SMALL_PARTS bytes, or of a huge
 * page once the arena has HUGE bytes. */
#define SMALL LEAK_PAGE
#define SMALL_PARTS (8 * LEAK_PAGE)
#define PART_ALIGN 64

static void release_mapping(struct scan_arena *arena, unsigned i)
{
    struct scan_arena_mapping *map = &arena->map[i];
    sys_unmap(map->memory, map->size);
    *(map->spare ? &arena->spare : &arena->used) -= map->size;
    *map = arena->map[--arena->maps];
}

void scan_arena_trim(struct scan_arena *arena)
{
    for (unsigned i = arena->maps; i--;)
        if (arena->map[i].spare)
            release_mapping(arena, i);
}

static void *record_mapping(struct scan_arena *arena, void *memory, uint64_t size, bool parts)
{
    arena->map[arena->maps++] = (struct scan_arena_mapping){
        .memory = memory, .size = size, .turn = ++arena->turns, .parts = parts};
    arena->used += size;
    return memory;
}

static void *map_pages(struct scan_arena *arena, uint64_t size, bool parts)
{
    if (arena->maps == SCAN_ARENA_MAPS || size > arena->most - arena->used - arena->spare)
        scan_arena_trim(arena);
    if (arena->maps == SCAN_ARENA_MAPS || size > arena->most - arena->used)
        return NULL;
    void *memory = sys_map(size);
    if (!memory)
        return NULL;
    if (size >= HUGE)
        sys_advise(memory, size, MADV_HUGEPAGE);
    return record_mapping(arena, memory, size, parts);
}

/* Finds the smallest spare mapping (one that was freed, and kept) with at least `size` bytes; NULL:
 * there is none. */
static struct scan_arena_mapping *find_spare(struct scan_arena *arena, uint64_t size)
{
    struct scan_arena_mapping *best = NULL;
    for (unsigned i = 0; i < arena->maps; i++) {
        struct scan_arena_mapping *map = &arena->map[i];
        if (map->spare && map->size >= size && (!best || map->size < best->size))
            best = map;
    }
    return best;
}

/* Uses the first bytes of a spare mapping for a new array. NULL: no spare mapping is large
 * enough. */
static void *reuse_spare(struct scan_arena *arena, uint64_t size)
{
    struct scan_arena_mapping *best = find_spare(arena, size);
    if (!best || (best->size > size && arena->maps == SCAN_ARENA_MAPS))
        return NULL;
    void *memory = best->memory;
    arena->spare -= size;
    best->memory = (char *)best->memory + size;
    best->size -= size;
    if (!best->size)
        *best = arena->map[--arena->maps];
    return record_mapping(arena, memory, size, false);
}

/* Allocates a small array as a part of a larger mapping; it is freed only with the whole
 * mapping. */
static void *cut_part(struct scan_arena *arena, uint64_t size)
{
    if (arena->left < size) {
        uint64_t bytes = arena->used >= HUGE ? HUGE : SMALL_PARTS;
        arena->next = map_pages(arena, bytes, true);
        arena->left = arena->next ? bytes : 0;
    }
    if (arena->left < size)
        return NULL;
    void *part = arena->next;
    arena->next += size;
    arena->left -= size;
    return part;
}

/* Allocates an array; *bytes is its size. *kept is true if the memory was used before, so it may
 * not be zero. */
static void *allocate(struct scan_arena *arena, uint64_t count, size_t each, uint64_t *bytes,
                      bool *kept)
{
    void *memory = NULL;
    *kept = false;
    if (__builtin_mul_overflow(count ? count : 1, each, bytes) || *bytes > arena->most)
        return NULL;
    uint64_t size = round_up(*bytes, LEAK_PAGE), huge = round_up(size, HUGE);
    if (size >= HUGE / 2) {
        memory = reuse_spare(arena, huge);
        *kept = memory;
        if (!memory)
            memory = map_pages(arena, huge, false);
    } else if (size <= SMALL || (size >= PART_LEAST && arena->used >= HUGE)) {
        memory = cut_part(arena, round_up(*bytes, PART_ALIGN));
    }
    return memory ? memory : map_pages(arena, size, false);
}

void *scan_arena_map(struct scan_arena *arena, uint64_t count, size_t each)
{
    uint64_t bytes;
    bool kept;
    void *memory = allocate(arena, count, each, &bytes, &kept);
    if (kept)
        memset(memory, 0, bytes);
    return memory;
}

void *scan_arena_map_raw(struct scan_arena *arena, uint64_t count, size_t each)
{
    uint64_t bytes;
    bool kept;
    void *memory = allocate(arena, count, each, &bytes, &kept);
#ifdef __SANITIZE_ADDRESS__ /* these bytes make tests fail that expect zeros */
    if (memory)
        memset(memory, 0xa5, bytes);
#endif
    return memory;
}

/* Finds the mapping that was made for this memory. NULL: the memory is NULL, or only a part of a
 * mapping. */
static struct scan_arena_mapping *find_mapping(struct scan_arena *arena, const void *memory)
{
    for (unsigned i = 0; i < arena->maps; i++) {
        struct scan_arena_mapping *map = &arena->map[i];
        if (map->memory == memory && !map->parts && !map->spare)
            return map;
    }
    return NULL;
}

void scan_arena_unmap(struct scan_arena *arena, void *memory)
{
    struct scan_arena_mapping *map = find_mapping(arena, memory);
    if (!map)
        return;
    if (map->size < HUGE) {
        release_mapping(arena, map - arena->map);
        return;
    }
    map->spare = true;
    arena->used -= map->size;
    arena->spare += map->size;
}

void scan_arena_free(struct scan_arena *arena)
{
    while (arena->maps)
        release_mapping(arena, arena->maps - 1);
    arena->left = 0;
}

void scan_arena_rewind(struct scan_arena *arena, const struct scan_arena *before)
{
    for (unsigned i = arena->maps; i--;) {
        unsigned k = 0;
        while (k < before->maps && before->map[k].turn != arena->map[i].turn)
            k++;
        if (k == before->maps || arena->map[i].spare)
            release_mapping(arena, i);
    }
    if (arena->next != before->next)
        arena->left = 0; /* memory that was allocated since *before was copied is not zero */
}

/* Enlarges a mapping of huge pages without copying it; the kernel clears only the new pages. */
static void *extend_in_place(struct scan_arena *arena, void *memory, uint64_t bytes)
{
    struct scan_arena_mapping *map = find_mapping(arena, memory);
    uint64_t size = round_up(bytes, HUGE);
    if (map && map->size >= size)
        return memory;
    if (!map || map->size < HUGE || find_spare(arena, size))
        return NULL;
    if (size - map->size > arena->most - arena->used - arena->spare) {
        scan_arena_trim(arena);
        /* scan_arena_trim may have moved the mapping in the list. */
        map = find_mapping(arena, memory);
    }
    if (size - map->size > arena->most - arena->used)
        return NULL;
    void *moved = sys_remap_larger(memory, map->size, size);
    if (!moved)
        return NULL;
    arena->used += size - map->size;
    map->memory = moved;
    map->size = size;
    return moved;
}

void *scan_arena_grow(struct scan_arena *arena, void *memory, uint64_t before, uint64_t count,
                      size_t each)
{
    uint64_t bytes;
    void *larger = __builtin_mul_overflow(count, each, &bytes) || bytes > arena->most
                       ? NULL
                       : extend_in_place(arena, memory, bytes);
    if (larger)
        return larger;
    larger = scan_arena_map_raw(arena, count, each);
    if (!larger)
        return NULL;
    if (before)
        memcpy(larger, memory, before * each);
    scan_arena_unmap(arena, memory);
    return larger;
}

bool scan_array_reserve(struct scan_arena *arena, struct scan_array *array, uint64_t count,
                        size_t each)
{
    array->at = scan_arena_map_raw(arena, count, each);
    array->capacity = array->at ? count : 0;
    return array->at;
}

bool scan_array_grow(struct scan_arena *arena, struct scan_array *array, size_t each)
{
    uint64_t capacity = array->capacity ? array->capacity * 2 : LEAK_PAGE / each;
    void *at = scan_arena_grow(arena, array->at, array->count, capacity, each);
    if (!at)
        return false;
    array->at = at;
    array->capacity = capacity;
    return true;
}

void scan_array_free(struct scan_arena *arena, struct scan_array *array)
{
    scan_arena_unmap(arena, array->at);
    memset(array, 0, sizeof *array);
}
