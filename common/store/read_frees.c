/* read_frees.c - where blocks were freed, and the last frees of each thread.
 *
 * Both name sites by their id, and sites have their last indices by now. What names none is left
 * out, but a recent free without a site still says who freed an address.
 */
#include <stdlib.h>
#include <string.h>

#include "common/store/reader_internal.h"

/* ---- Pairs of site and stack ---------------------------------------------------------------- */

static void add_freed(struct reading *reading, const struct leak_freed *freed)
{
    struct store *store = reading->store;
    uint32_t site = store_site_of(store, freed->site);

    if (site == STORE_NO_SITE) {
        reading->damaged++;
        return;
    }
    store->freed[store->freed_count++] =
        (struct store_freed){.site = site,
                             .node = read_node(reading, freed->node, store->node_count),
                             .blocks = freed->blocks,
                             .bytes = freed->bytes};
}

static int by_site_and_blocks(const void *left, const void *right)
{
    const struct store_freed *a = left, *b = right;

    if (a->site != b->site)
        return a->site < b->site ? -1 : 1;
    if (a->blocks != b->blocks)
        return a->blocks > b->blocks ? -1 : 1;
    return a->node < b->node ? -1 : a->node > b->node;
}

static void read_freed(struct reading *reading)
{
    struct store *store = reading->store;
    size_t total, at = 0;

    reading->damaged += runs_index(&reading->freed, 0, &total);
    store->freed = mem_take_array(store->mem, total, sizeof(*store->freed));
    for (size_t i = 0; i < reading->freed.count; i++)
        for (size_t k = 0; k < reading->freed.run[i].count; k++) {
            struct leak_freed freed;

            memcpy(&freed, reading->freed.run[i].at + k * sizeof(freed), sizeof(freed));
            if (freed.site)
                add_freed(reading, &freed);
        }
    if (store->freed_count)
        qsort(store->freed, store->freed_count, sizeof(*store->freed), by_site_and_blocks);
    for (size_t i = 0; i < store->site_count; i++) {
        store->sites[i].freed = at;
        while (at < store->freed_count && store->freed[at].site == i)
            at++;
        store->sites[i].freed_count = at - store->sites[i].freed;
    }
}

/* ---- Rings ---------------------------------------------------------------------------------- */

static void add_recent(struct reading *reading, const struct leak_recent *ring,
                       const struct leak_recent_free *free)
{
    struct store *store = reading->store;
    uint32_t form = free->size_form & 0xff; /* enum leak_form */
    struct store_recent *made;

    store->recent = mem_more(store->recent, &reading->recent_capacity, store->recent_count + 1,
                             sizeof(*store->recent));
    made = &store->recent[store->recent_count++];
    *made = (struct store_recent){.address = free->address,
                                  .pc = free->pc,
                                  .site = store_site_of(store, free->site),
                                  .thread = ring->last_thread,
                                  .tick = free->tick,
                                  .form = form < LEAK_FORM_MAX ? form : LEAK_FORM_NONE,
                                  .size_most = (uint64_t)(free->size_form >> 8) * LEAK_RECENT_UNIT};
    if (free->node) /* else 0, which is LEAK_ROOT_NONE */
        made->node = read_node(reading, free->node, store->node_count);
}

/* Newest first. Of a full ring the oldest place is left out: it may be half written over. */
static void read_ring(struct reading *reading, const struct chunk *chunk)
{
    size_t room = chunk->end - chunk->payload;
    struct leak_recent ring;
    uint64_t count;

    memset(&ring, 0, sizeof(ring));
    memcpy(&ring, reading->image->data + chunk->payload, room < sizeof(ring) ? room : sizeof(ring));
    reading->store->free_captures += ring.captures;
    count = ring.next < LEAK_RECENT ? ring.next : LEAK_RECENT - 1;
    for (uint64_t i = 1; i <= count; i++) {
        const struct leak_recent_free *free = &ring.free[(ring.next - i) % LEAK_RECENT];

        if (free->address)
            add_recent(reading, &ring, free);
    }
}

static int by_tick(const void *left, const void *right)
{
    const struct store_recent *const *a = left, *const *b = right;

    if ((*a)->tick != (*b)->tick)
        return (*a)->tick > (*b)->tick ? -1 : 1;
    return *a < *b ? -1 : *a > *b; /* as they were read */
}

/* The order within a ring is known, across rings only the tick: what was read first stays first. */
static void sort_recent(struct store *store)
{
    const struct store_recent **order = NULL;
    struct store_recent *read = store->recent;
    size_t capacity = 0;

    store->recent = mem_take_array(store->mem, store->recent_count, sizeof(*read));
    order = mem_more(order, &capacity, store->recent_count, sizeof(*order));
    for (size_t i = 0; i < store->recent_count; i++)
        order[i] = &read[i];
    if (store->recent_count)
        qsort(order, store->recent_count, sizeof(*order), by_tick);
    for (size_t i = 0; i < store->recent_count; i++)
        store->recent[i] = *order[i];
    free(order);
    free(read);
}

void read_frees(struct reading *reading, const struct chunks *chunks)
{
    read_freed(reading);
    for (size_t i = 0; i < chunks->count; i++)
        if (chunks->chunk[i].type == LEAK_CHUNK_RECENT)
            read_ring(reading, &chunks->chunk[i]);
    sort_recent(reading->store);
}
