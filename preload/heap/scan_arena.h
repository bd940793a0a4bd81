/* scan_arena.h - the memory of a look: whole maps from the kernel, never more than was allowed.
 *
 * A look's child makes a few large arrays and goes away with them. Each array is a map of its own;
 * the room knows them all, so whoever gives up half-way just leaves, and room_end returns the rest.
 *
 *     used = sum of the sizes of the maps that are out, each rounded up to pages, small or huge
 *     spare = the same of those that were given back and are kept
 *     used + spare <= most
 *
 * A page of the kernel's is cleared first, and in a virtual machine it may be fetched from the
 * host: a tenth to half of what a large look costs. So large maps that are given back are kept, and
 * cut up for others.
 *
 * One thread only. Nothing here reaches malloc.
 */
#ifndef PRELOAD_HEAP_SCAN_ARENA_H
#define PRELOAD_HEAP_SCAN_ARENA_H

#include "preload/base/base.h"

#define ROOM_MAPS 64

struct room {
    uint64_t most, used, spare;
    unsigned maps;
    struct room_map {
        void *memory;
        uint64_t size;
        uint32_t turn; /* which of all maps that were ever had */
        bool parts;    /* it is given out in parts */
        bool spare;
    } map[ROOM_MAPS];
    uint32_t turns;
    char *next; /* part, with so many bytes left behind it */
    uint64_t left;
};

/* Zeroed memory for count things of so many bytes; NULL: above the limit, or the kernel refuses. */
void *room_map(struct room *room, uint64_t count, size_t each);
/* The same with anything in it. */
void *room_map_raw(struct room *room, uint64_t count, size_t each);
/* The same with what was in the first one, which is gone; the rest is anything. On failure it
 * stays. */
void *room_grow(struct room *room, void *memory, uint64_t before, uint64_t count, size_t each);
/* NULL is fine. */
void room_unmap(struct room *room, void *memory);
void room_end(struct room *room);
/* Unmaps all that came after "before", a copy of the room, was made. */
void room_back(struct room *room, const struct room *before);

/* An array that grows at its end, and moves when it does. Begins as zeros. */
struct pile {
    void *at;
    uint64_t count, fits;
};

/* Before anything is in it: room for so many. False: it will grow when it has to. */
bool pile_reserve(struct room *room, struct pile *pile, uint64_t count, size_t each);
bool pile_grow(struct room *room, struct pile *pile, size_t each);

/* The place of one thing more, or NULL. */
static ALWAYS_INLINE void *pile_add(struct room *room, struct pile *pile, size_t each)
{
    if (unlikely(pile->count == pile->fits) && !pile_grow(room, pile, each))
        return NULL;
    return (char *)pile->at + pile->count++ * each;
}

void pile_end(struct room *room, struct pile *pile);

#endif
