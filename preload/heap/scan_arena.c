/* scan_arena.c - a short list of maps: a look has a few dozen, so they are looked through.
 *
 * The arrays are read in no order: with small pages every access would also miss the TLB, and to
 * get them page by page costs a small look as much as marking does. So large ones are of huge
 * pages, and once there is something large, smaller ones are parts of a map of that kind.
 */
#include "preload/heap/scan_arena.h"
#include "preload/base/sys.h"
#include "leak_store.h"

#include <sys/mman.h>

#define HUGE (2ull << 20)
#define PART_LEAST (HUGE / 64)

static void drop(struct room *room, unsigned i)
{
    struct room_map *map = &room->map[i];
    sys_unmap(map->memory, map->size);
    *(map->spare ? &room->spare : &room->used) -= map->size;
    *map = room->map[--room->maps];
}

static void drop_spares(struct room *room)
{
    for (unsigned i = room->maps; i--;)
        if (room->map[i].spare)
            drop(room, i);
}

static void *enter(struct room *room, void *memory, uint64_t size, bool parts)
{
    room->map[room->maps++] =
        (struct room_map){.memory = memory, .size = size, .turn = ++room->turns, .parts = parts};
    room->used += size;
    return memory;
}

static void *map(struct room *room, uint64_t size, bool parts)
{
    if (room->maps == ROOM_MAPS || size > room->most - room->used - room->spare)
        drop_spares(room);
    if (room->maps == ROOM_MAPS || size > room->most - room->used)
        return NULL;
    void *memory = sys_map(size);
    if (!memory)
        return NULL;
    if (size >= HUGE)
        sys_advise(memory, size, MADV_HUGEPAGE);
    return enter(room, memory, size, parts);
}

/* The smallest spare map that has so many bytes. */
static struct room_map *find_spare(struct room *room, uint64_t size)
{
    struct room_map *best = NULL;
    for (unsigned i = 0; i < room->maps; i++) {
        struct room_map *map = &room->map[i];
        if (map->spare && map->size >= size && (!best || map->size < best->size))
            best = map;
    }
    return best;
}

/* The first so many bytes of it. */
static void *take_spare(struct room *room, uint64_t size)
{
    struct room_map *best = find_spare(room, size);
    if (!best || (best->size > size && room->maps == ROOM_MAPS))
        return NULL;
    void *memory = best->memory;
    room->spare -= size;
    best->memory = (char *)best->memory + size;
    best->size -= size;
    if (!best->size)
        *best = room->map[--room->maps];
    return enter(room, memory, size, false);
}

/* Given back with the whole. */
static void *cut(struct room *room, uint64_t size)
{
    if (room->left < size) {
        room->next = map(room, HUGE, true);
        room->left = room->next ? HUGE : 0;
    }
    if (room->left < size)
        return NULL;
    void *part = room->next;
    room->next += size;
    room->left -= size;
    return part;
}

/* *kept: it is of a map that was given back, and not zero. */
static void *find_place(struct room *room, uint64_t count, size_t each, uint64_t *bytes, bool *kept)
{
    void *memory = NULL;
    *kept = false;
    if (__builtin_mul_overflow(count ? count : 1, each, bytes) || *bytes > room->most)
        return NULL;
    uint64_t size = round_up(*bytes, LEAK_PAGE), huge = round_up(size, HUGE);
    if (size >= HUGE / 2) {
        memory = take_spare(room, huge);
        *kept = memory;
        if (!memory)
            memory = map(room, huge, false);
    } else if (size >= PART_LEAST && room->used >= HUGE) {
        memory = cut(room, size);
    }
    return memory ? memory : map(room, size, false);
}

void *room_map(struct room *room, uint64_t count, size_t each)
{
    uint64_t bytes;
    bool kept;
    void *memory = find_place(room, count, each, &bytes, &kept);
    if (kept)
        memset(memory, 0, bytes);
    return memory;
}

void *room_map_raw(struct room *room, uint64_t count, size_t each)
{
    uint64_t bytes;
    bool kept;
    void *memory = find_place(room, count, each, &bytes, &kept);
#ifdef __SANITIZE_ADDRESS__ /* who counts on zeros is to be found by the tests */
    if (memory)
        memset(memory, 0xa5, bytes);
#endif
    return memory;
}

/* The map that was had for it; NULL: it is a part of one, or nothing. */
static struct room_map *find_map(struct room *room, const void *memory)
{
    for (unsigned i = 0; i < room->maps; i++) {
        struct room_map *map = &room->map[i];
        if (map->memory == memory && !map->parts && !map->spare)
            return map;
    }
    return NULL;
}

void room_unmap(struct room *room, void *memory)
{
    struct room_map *map = find_map(room, memory);
    if (!map)
        return;
    if (map->size < HUGE) {
        drop(room, map - room->map);
        return;
    }
    map->spare = true;
    room->used -= map->size;
    room->spare += map->size;
}

void room_end(struct room *room)
{
    while (room->maps)
        drop(room, room->maps - 1);
    room->left = 0;
}

void room_back(struct room *room, const struct room *before)
{
    for (unsigned i = room->maps; i--;) {
        unsigned k = 0;
        while (k < before->maps && before->map[k].turn != room->map[i].turn)
            k++;
        if (k == before->maps || room->map[i].spare)
            drop(room, i);
    }
    if (room->next != before->next)
        room->left = 0; /* what was cut meanwhile is no longer zero */
}

/* In place, if its pages are huge: no second copy, and only what is new has to be had from the
 * kernel. */
static void *stretch(struct room *room, void *memory, uint64_t bytes)
{
    struct room_map *map = find_map(room, memory);
    uint64_t size = round_up(bytes, HUGE);
    if (map && map->size >= size)
        return memory;
    if (!map || map->size < HUGE || find_spare(room, size))
        return NULL;
    if (size - map->size > room->most - room->used - room->spare) {
        drop_spares(room);
        map = find_map(room, memory); /* others have moved up */
    }
    if (size - map->size > room->most - room->used)
        return NULL;
    void *moved = sys_remap_larger(memory, map->size, size);
    if (!moved)
        return NULL;
    room->used += size - map->size;
    map->memory = moved;
    map->size = size;
    return moved;
}

void *room_grow(struct room *room, void *memory, uint64_t before, uint64_t count, size_t each)
{
    uint64_t bytes;
    void *larger = __builtin_mul_overflow(count, each, &bytes) || bytes > room->most
                       ? NULL
                       : stretch(room, memory, bytes);
    if (larger)
        return larger;
    larger = room_map_raw(room, count, each);
    if (!larger)
        return NULL;
    if (before)
        memcpy(larger, memory, before * each);
    room_unmap(room, memory);
    return larger;
}

bool pile_reserve(struct room *room, struct pile *pile, uint64_t count, size_t each)
{
    pile->at = room_map_raw(room, count, each);
    pile->fits = pile->at ? count : 0;
    return pile->at;
}

bool pile_grow(struct room *room, struct pile *pile, size_t each)
{
    uint64_t fits = pile->fits ? pile->fits * 2 : LEAK_PAGE / each;
    void *at = room_grow(room, pile->at, pile->count, fits, each);
    if (!at)
        return false;
    pile->at = at;
    pile->fits = fits;
    return true;
}

void pile_end(struct room *room, struct pile *pile)
{
    room_unmap(room, pile->at);
    memset(pile, 0, sizeof *pile);
}
