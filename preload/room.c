/* room.c - a short list of maps: a look has a few dozen, so they are looked through.
 *
 * The arrays are read in no order: with small pages every access would also miss the TLB, and to
 * get them page by page costs a small look as much as marking does. So large ones are of huge
 * pages, and once there is something large, smaller ones are parts of a map of that kind.
 */
#include "preload/room.h"
#include "preload/sys.h"
#include "leak_store.h"

#include <sys/mman.h>

#define HUGE (2ull << 20)
#define PART_LEAST (HUGE / 64)

static void *map(struct room *room, uint64_t size, bool parts)
{
    if (room->maps == ROOM_MAPS || size > room->most - room->used)
        return NULL;
    void *memory = sys_map(size);
    if (!memory)
        return NULL;
    if (size >= HUGE)
        sys_advise(memory, size, MADV_HUGEPAGE);
    room->map[room->maps].memory = memory;
    room->map[room->maps].parts = parts;
    room->map[room->maps++].size = size;
    room->used += size;
    return memory;
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

void *room_map(struct room *room, uint64_t count, size_t each)
{
    uint64_t size;
    void *memory = NULL;
    if (__builtin_mul_overflow(count ? count : 1, each, &size) || size > room->most)
        return NULL;
    size = round_up(size, LEAK_PAGE);
    if (size >= HUGE / 2)
        memory = map(room, round_up(size, HUGE), false);
    else if (size >= PART_LEAST && room->used >= HUGE)
        memory = cut(room, size);
    return memory ? memory : map(room, size, false);
}

static void unmap(struct room *room, unsigned i)
{
    sys_unmap(room->map[i].memory, room->map[i].size);
    room->used -= room->map[i].size;
    room->map[i] = room->map[--room->maps];
}

void room_unmap(struct room *room, void *memory)
{
    for (unsigned i = 0; memory && i < room->maps; i++)
        if (room->map[i].memory == memory && !room->map[i].parts) {
            unmap(room, i);
            return;
        }
}

void room_end(struct room *room)
{
    while (room->maps)
        unmap(room, room->maps - 1);
    room->left = 0;
}

void room_back(struct room *room, const struct room *before)
{
    for (unsigned i = room->maps; i--;) {
        unsigned k = 0;
        while (k < before->maps && before->map[k].memory != room->map[i].memory)
            k++;
        if (k == before->maps)
            unmap(room, i);
    }
    if (room->next != before->next)
        room->left = 0; /* what was cut meanwhile is no longer zero */
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
