/* read_frees.c - reads where blocks were freed, and the last frees of each thread.
 *
 * Both refer to sites by id. A record of freed blocks whose site is missing is left out; a
 * recent free without a site stays, since it still says which call freed an address. */
#include <stdlib.h>

#include "common/store/reader_internal.h"

/* ---- Where the blocks of each site were freed ------------------------------------------------ */

static void add_freed(struct reader *reader, const struct leak_freed *freed)
{
    struct store *store = reader->store;
    uint32_t site = store_find_site(store, freed->site);

    if (site == STORE_NO_SITE) {
        reader->damaged++;
        return;
    }
    store->freed[store->freed_count++] =
        (struct store_freed){.site = site,
                             .node = read_node(reader, freed->node, store->node_count),
                             .blocks = freed->blocks,
                             .bytes = freed->bytes};
}

static int by_site_and_blocks(const void *left, const void *right)
{
    const struct store_freed *a = left, *b = right;

    return COMPARE(a->site, b->site) ?: COMPARE(b->blocks, a->blocks) ?: COMPARE(a->node, b->node);
}

static void read_freed(struct reader *reader)
{
    struct store *store = reader->store;
    size_t total, at = 0;

    reader->damaged += runs_index(&reader->freed, 0, &total);
    store->freed = arena_alloc_array(store->mem, total, sizeof(*store->freed));
    for (size_t i = 0; i < reader->freed.count; i++)
        for (size_t k = 0; k < reader->freed.run[i].count; k++) {
            struct leak_freed freed;

            copy_record(&freed, reader->freed.run[i].at, k, sizeof(freed));
            if (freed.site)
                add_freed(reader, &freed);
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

/* ---- The last frees of each thread, in a ring ------------------------------------------------ */

static void add_recent(struct reader *reader, const struct leak_recent *ring,
                       const struct leak_recent_free *free)
{
    struct store *store = reader->store;
    uint32_t form = free->size_form & 0xff; /* the low byte is an enum leak_form */
    struct store_recent *made;

    store->recent = array_grow(store->recent, &reader->recent_capacity, store->recent_count + 1,
                               sizeof(*store->recent));
    made = &store->recent[store->recent_count++];
    *made = (struct store_recent){.address = free->address,
                                  .pc = free->pc,
                                  .site = store_find_site(store, free->site),
                                  .thread = ring->last_thread,
                                  .tick = free->tick,
                                  .form = form < LEAK_FORM_MAX ? form : LEAK_FORM_NONE,
                                  .size_most = (uint64_t)(free->size_form >> 8) * LEAK_RECENT_UNIT};
    if (free->node) /* else LEAK_ROOT_NONE, which is 0: the stack was not recorded */
        made->node = read_node(reader, free->node, store->node_count);
}

/* Reads the last frees of a thread, the newest first. The oldest entry of a full ring is left out,
 * because the thread may be overwriting it. */
static void read_ring(struct reader *reader, const struct chunk *chunk)
{
    size_t room = chunk->end - chunk->payload;
    struct leak_recent ring;
    uint64_t count;

    memset(&ring, 0, sizeof(ring));
    memcpy(&ring, reader->image->data + chunk->payload, room < sizeof(ring) ? room : sizeof(ring));
    reader->store->free_captures += ring.captures;
    count = ring.next < LEAK_RECENT ? ring.next : LEAK_RECENT - 1;
    for (uint64_t i = 1; i <= count; i++) {
        const struct leak_recent_free *free = &ring.free[(ring.next - i) % LEAK_RECENT];

        if (free->address)
            add_recent(reader, &ring, free);
    }
}

static int by_tick(const void *left, const void *right)
{
    const struct store_recent *const *a = left, *const *b = right;

    /* Equal ticks: in the order in which they were read. */
    return COMPARE((*b)->tick, (*a)->tick) ?: COMPARE(*a, *b);
}

/* Sorts the last frees by time, the newest first. The order of frees of one thread is known;
 * frees of different threads are ordered by their tick only, and equal ticks keep their order. */
static void sort_recent(struct store *store)
{
    const struct store_recent **order = NULL;
    struct store_recent *read = store->recent;
    size_t capacity = 0;

    store->recent = arena_alloc_array(store->mem, store->recent_count, sizeof(*read));
    order = array_grow(order, &capacity, store->recent_count, sizeof(*order));
    for (size_t i = 0; i < store->recent_count; i++)
        order[i] = &read[i];
    if (store->recent_count)
        qsort(order, store->recent_count, sizeof(*order), by_tick);
    for (size_t i = 0; i < store->recent_count; i++)
        store->recent[i] = *order[i];
    free(order);
    free(read);
}

void read_frees(struct reader *reader, const struct chunks *chunks)
{
    read_freed(reader);
    for (size_t i = 0; i < chunks->count; i++)
        if (chunks->chunk[i].type == LEAK_CHUNK_RECENT)
            read_ring(reader, &chunks->chunk[i]);
    sort_recent(reader->store);
}
