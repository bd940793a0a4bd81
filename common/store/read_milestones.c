/* read_milestones.c - marks, and looks that were asked for: moments to tell older from newer by.
 *
 * They stand in no order; here they ascend by tick. One that is being written over has no number.
 */
#include <stdlib.h>
#include <string.h>

#include "common/store/reader_internal.h"

static int by_tick(const void *left, const void *right)
{
    const struct store_milestone *a = left, *b = right;

    if (a->tick != b->tick)
        return a->tick < b->tick ? -1 : 1;
    return a->number < b->number ? -1 : a->number > b->number;
}

static void add(struct reading *reading, const uint8_t *at)
{
    struct store *store = reading->store;
    struct leak_milestone raw;

    memcpy(&raw, at, sizeof(raw));
    if (!raw.number)
        return;
    store->milestones[store->milestone_count++] = (struct store_milestone){
        .number = raw.number,
        .tick = raw.tick,
        .when_ns = raw.when_ns,
        .is_look = raw.is_look != 0,
        .is_known = raw.is_known != 0,
        .name = mem_copy(store->mem, raw.name, strnlen(raw.name, sizeof(raw.name)))};
}

/* How many of this chunk's records are there to be read. */
static size_t room_of(const struct chunk *chunk)
{
    size_t there = (chunk->end - chunk->payload) / sizeof(struct leak_milestone);

    if (chunk->type != LEAK_CHUNK_MILESTONES)
        return 0;
    return there < LEAK_MILESTONES ? there : LEAK_MILESTONES;
}

void read_milestones(struct reading *reading, const struct chunks *chunks)
{
    struct store *store = reading->store;
    size_t room = 0;

    for (size_t i = 0; i < chunks->count; i++)
        room += room_of(&chunks->chunk[i]);
    store->milestones = mem_take_array(store->mem, room, sizeof(*store->milestones));
    for (size_t i = 0; i < chunks->count; i++)
        for (size_t n = 0; n < room_of(&chunks->chunk[i]); n++)
            add(reading, reading->image->data + chunks->chunk[i].payload +
                             n * sizeof(struct leak_milestone));
    if (store->milestone_count)
        qsort(store->milestones, store->milestone_count, sizeof(*store->milestones), by_tick);
}
