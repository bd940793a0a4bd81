/* room.c - a short list of maps: a look has a few dozen, so they are looked through. */
#include "preload/room.h"
#include "preload/sys.h"
#include "leak_store.h"

#include <sys/mman.h>

#define HUGE (2ull << 20)

void *room_map(struct room *room, uint64_t count, size_t each)
{
    uint64_t size;
    if (__builtin_mul_overflow(count ? count : 1, each, &size) || size > room->most ||
        room->maps == ROOM_MAPS)
        return NULL;
    size = round_up(size, LEAK_PAGE);
    if (size > room->most - room->used)
        return NULL;
    void *memory = sys_map(size);
    if (!memory)
        return NULL;
    /* The arrays are read in no order: with small pages every access would also miss the TLB. */
    if (size >= 2 * HUGE)
        sys_advise(memory, size, MADV_HUGEPAGE);
    room->map[room->maps].memory = memory;
    room->map[room->maps++].size = size;
    room->used += size;
    return memory;
}

void room_unmap(struct room *room, void *memory)
{
    for (unsigned i = 0; memory && i < room->maps; i++)
        if (room->map[i].memory == memory) {
            sys_unmap(memory, room->map[i].size);
            room->used -= room->map[i].size;
            room->map[i] = room->map[--room->maps];
            return;
        }
}

void room_end(struct room *room)
{
    while (room->maps)
        room_unmap(room, room->map[room->maps - 1].memory);
}

void room_back(struct room *room, const struct room *before)
{
    for (unsigned i = room->maps; i--;) {
        unsigned k = 0;
        while (k < before->maps && before->map[k].memory != room->map[i].memory)
            k++;
        if (k == before->maps)
            room_unmap(room, room->map[i].memory);
    }
}

bool pile_grow(struct room *room, struct pile *pile, size_t each)
{
    uint64_t fits = pile->fits ? pile->fits * 2 : LEAK_PAGE / each;
    void *at = room_map(room, fits, each);
    if (!at)
        return false;
    if (pile->count)
        memcpy(at, pile->at, pile->count * each);
    room_unmap(room, pile->at);
    pile->at = at;
    pile->fits = fits;
    return true;
}

void pile_end(struct room *room, struct pile *pile)
{
    room_unmap(room, pile->at);
    memset(pile, 0, sizeof *pile);
}
