/* read_events.c - what was released wrongly: a table of fixed records.
 *
 * They name sites and nodes by their ids; a record of an unknown type or form is left out, one
 * whose site does not hold is still an error. Pools have names in a table of their own.
 */
#include <string.h>

#include "common/store/reader_internal.h"

static bool is_known(const struct leak_event *event)
{
    return event->type < LEAK_EVENT_MAX && event->form && event->form < LEAK_FORM_MAX &&
           event->place < LEAK_PLACE_MAX && event->freed_form < LEAK_FORM_MAX;
}

static uint32_t node_of(struct reading *reading, uint32_t id)
{
    return id ? read_node(reading, id, reading->store->node_count) : LEAK_ROOT_NONE;
}

/* names: the table of them; NULL = there is none. */
static const char *pool_name(struct reading *reading, const struct chunk *names, uint32_t number)
{
    size_t at = (size_t)number * sizeof(struct leak_pool); /* where the next one begins */
    struct leak_pool pool;

    if (!names || !number || number > LEAK_POOLS || at > names->end - names->payload)
        return NULL;
    memcpy(&pool, reading->image->data + names->payload + at - sizeof(pool), sizeof(pool));
    return pool.number == number
               ? mem_copy(reading->store->mem, pool.name, strnlen(pool.name, LEAK_POOL_NAME))
               : NULL;
}

static void add_event(struct reading *reading, const struct chunk *names,
                      const struct leak_event *event)
{
    struct store *store = reading->store;
    struct store_event *made = &store->events[store->event_count];

    if (!is_known(event)) {
        reading->damaged++;
        return;
    }
    *made = (struct store_event){.event = *event, .site = STORE_NO_SITE};
    if (!made->event.count)
        made->event.count = 1;
    if (event->site)
        made->site = store_site_of(store, event->site);
    made->node = node_of(reading, event->node);
    made->freed_node = node_of(reading, event->freed_node);
    made->block_pool = pool_name(reading, names, event->block_pool);
    made->call_pool = pool_name(reading, names, event->call_pool);
    store->event_count++;
}

void read_events(struct reading *reading, const struct chunks *chunks)
{
    struct store *store = reading->store;
    const struct chunk *chunk = chunks_first(chunks, LEAK_CHUNK_EVENTS);
    const struct chunk *names = chunks_first(chunks, LEAK_CHUNK_POOLS);
    struct leak_events table = {0};
    size_t room;

    if (!chunk)
        return;
    room = chunk->end - chunk->payload;
    memcpy(&table, reading->image->data + chunk->payload,
           room < sizeof(table) ? room : sizeof(table));
    store->events = mem_take_array(store->mem, LEAK_EVENTS, sizeof(*store->events));
    store->events_left_out = table.left_out;
    for (size_t k = 0; k < LEAK_EVENTS; k++)
        if (table.event[k].type)
            add_event(reading, names, &table.event[k]);
}
