/* read_faults.c - reads bad frees, resources and the crash record.
 *
 * All have a fixed size. A record of an unknown type, form, kind or thread is left out. An
 * invalid site becomes STORE_NO_SITE, and an invalid node the root STORE_ROOT_MISSING. */
#include "common/store/reader_internal.h"

/* ---- Bad frees ------------------------------------------------------------------------------- */

static bool is_known_event(const struct leak_event *event)
{
    return event->type < LEAK_EVENT_MAX && event->form && event->form < LEAK_FORM_MAX &&
           event->place < LEAK_PLACE_MAX && event->freed_form < LEAK_FORM_MAX;
}

static uint32_t event_node(struct reader *reader, uint32_t id)
{
    return id ? read_node(reader, id, reader->store->node_count) : LEAK_ROOT_NONE;
}

/* Returns the name of a pool by its number. names: the chunk with the table of names; NULL = there
 * is none. */
static const char *pool_name(struct reader *reader, const struct chunk *names, uint32_t number)
{
    /* Offset of the end of the pool's record in the table; pools are numbered from 1. */
    size_t at = (size_t)number * sizeof(struct leak_pool);
    struct leak_pool pool;

    if (!names || !number || number > LEAK_POOLS || at > names->end - names->payload)
        return NULL;
    memcpy(&pool, reader->image->data + names->payload + at - sizeof(pool), sizeof(pool));
    return pool.number == number
               ? arena_copy(reader->store->mem, pool.name, strnlen(pool.name, LEAK_POOL_NAME))
               : NULL;
}

static void add_event(struct reader *reader, const struct chunk *names,
                      const struct leak_event *event)
{
    struct store *store = reader->store;
    struct store_event *made = &store->events[store->event_count];

    if (!is_known_event(event)) {
        reader->damaged++;
        return;
    }
    *made = (struct store_event){.event = *event, .site = STORE_NO_SITE};
    if (!made->event.count)
        made->event.count = 1;
    if (event->site)
        made->site = store_find_site(store, event->site);
    made->node = event_node(reader, event->node);
    made->freed_node = event_node(reader, event->freed_node);
    made->block_pool = pool_name(reader, names, event->block_pool);
    made->call_pool = pool_name(reader, names, event->call_pool);
    store->event_count++;
}

void read_events(struct reader *reader, const struct chunks *chunks)
{
    struct store *store = reader->store;
    const struct chunk *chunk = chunks_first(chunks, LEAK_CHUNK_EVENTS);
    const struct chunk *names = chunks_first(chunks, LEAK_CHUNK_POOLS);
    struct leak_events table = {0};
    size_t room;

    if (!chunk)
        return;
    room = chunk->end - chunk->payload;
    memcpy(&table, reader->image->data + chunk->payload,
           room < sizeof(table) ? room : sizeof(table));
    store->events = arena_alloc_array(store->mem, LEAK_EVENTS, sizeof(*store->events));
    store->events_left_out = table.left_out;
    for (size_t k = 0; k < LEAK_EVENTS; k++)
        if (table.event[k].type)
            add_event(reader, names, &table.event[k]);
}

/* ---- Resources ------------------------------------------------------------------------------- */

static struct store_resource_use read_use(struct reader *reader, const struct leak_mark *mark)
{
    struct store_resource_use made = {.thread = mark->thread, .tick = mark->tick};

    if (mark->node) /* else LEAK_ROOT_NONE, which is 0: the stack was not recorded */
        made.node = read_node(reader, mark->node, reader->store->node_count);
    return made;
}

static bool is_valid_resource(const struct leak_resource *resource)
{
    return (resource->state == LEAK_RESOURCE_OPEN || resource->state == LEAK_RESOURCE_BAD_CLOSE ||
            resource->state == LEAK_RESOURCE_RELEASED) &&
           resource->type > LEAK_RESOURCE_NONE && resource->type < LEAK_RESOURCE_MAX &&
           resource->sort < LEAK_SORT_MAX && resource->name_form <= LEAK_NAME_LOCAL &&
           resource->name_length <= LEAK_RESOURCE_NAME;
}

static void add_resource(struct reader *reader, const struct leak_resource *resource)
{
    struct store *store = reader->store;
    struct store_resource *made;

    if (!is_valid_resource(resource)) {
        reader->damaged++;
        return;
    }
    store->resources = array_grow(store->resources, &reader->resource_capacity,
                                  store->resource_count + 1, sizeof(*store->resources));
    made = &store->resources[store->resource_count++];
    *made = (struct store_resource){
        .type = resource->type,
        .bad_close = resource->state == LEAK_RESOURCE_BAD_CLOSE,
        .released = resource->state == LEAK_RESOURCE_RELEASED,
        .sort = resource->sort,
        .flags = resource->flags,
        .name_form = resource->name_form,
        .name = arena_copy(store->mem, resource->name, resource->name_length),
        .name_length = resource->name_length,
        .count = resource->count ? resource->count : 1,
        .id = resource->id,
        .bytes = resource->bytes,
        .opened = read_use(reader, &resource->opened),
        .closed = read_use(reader, &resource->closed),
        .again = read_use(reader, &resource->again),
        .fd = resource->fd};
}

static void add_totals(struct store *store, const struct leak_resource *place)
{
    struct leak_resource_totals totals;

    memcpy(&totals, place, sizeof(totals));
    if (store->header.version < 3) { /* files of versions before 3 have half as many counters */
        totals.missed = totals.opened[8];
        memset(totals.opened + 8, 0, sizeof(totals.opened) / 2);
    }
    for (int i = 0; i < LEAK_RESOURCE_MAX; i++)
        store->resources_opened[i] += totals.opened[i];
    store->resources_missed += totals.missed;
}

void read_resources(struct reader *reader, const struct chunk *chunk)
{
    size_t room = (chunk->end - chunk->payload) / sizeof(struct leak_resource);
    size_t count = chunk->length / sizeof(struct leak_resource);

    if (chunk->type != LEAK_CHUNK_RESOURCES)
        return;
    for (size_t i = 0; i < count && i < room; i++) {
        struct leak_resource resource;

        memcpy(&resource, reader->image->data + chunk->payload + i * sizeof(resource),
               sizeof(resource));
        if (resource.state == LEAK_RESOURCE_TOTALS)
            add_totals(reader->store, &resource);
        else if (resource.state != LEAK_RESOURCE_FREE)
            add_resource(reader, &resource);
    }
}

/* ---- The crash record ---------------------------------------------------------------------------
 *
 * The record is published in steps, so parts that were never written are zero. Invalid numbers
 * are left out one by one, since the crash may be all that a damaged file contains. */

static void terminate(char *text, size_t size)
{
    text[size - 1] = 0;
}

static void check_frames(struct reader *reader, struct leak_crash *head)
{
    if (head->frame_count > LEAK_CRASH_FRAMES || head->outer_count > LEAK_CRASH_OUTER) {
        head->frame_count = head->outer_count = 0;
        reader->damaged++;
    }
    for (uint32_t i = 0; i < head->frame_count; i++) {
        struct leak_crash_frame *frame = &head->frames[i];

        if (frame->times && (!frame->period || frame->period > i + 1)) {
            frame->times = 0;
            reader->damaged++;
        }
    }
    if (!head->outer_count)
        head->left_out = 0;
}

static void read_crash_modules(struct reader *reader, const uint8_t *payload, size_t length,
                               struct store_crash *crash)
{
    const struct leak_table *table = &crash->head.modules;

    if (table->at > length || table->count > length - table->at)
        reader->damaged++;
    else
        crash->modules = read_module_list(reader, payload + table->at, table->count,
                                          &crash->module_count, &crash->module_spans);
}

/* Checks the head of a crash record. False: no crash was published. */
static bool is_valid_head(struct reader *reader, const struct leak_crash *head)
{
    if (head->state == LEAK_CRASH_NONE)
        return false;
    if (head->head_size == sizeof(*head) && head->state <= LEAK_CRASH_FATAL && head->signal > 0 &&
        head->signal <= 64 && head->register_count <= LEAK_CRASH_REGISTERS)
        return true;
    reader->damaged++;
    return false;
}

static void read_crash_chunk(struct reader *reader, const struct chunk *chunk)
{
    struct store *store = reader->store;
    const uint8_t *payload = reader->image->data + chunk->payload;
    struct store_crash *crash;

    if (chunk->length < sizeof(crash->head))
        return;
    crash = arena_alloc(store->mem, sizeof(*crash));
    memcpy(&crash->head, payload, sizeof(crash->head));
    if (!is_valid_head(reader, &crash->head))
        return;
    check_frames(reader, &crash->head);
    terminate(crash->head.name, sizeof(crash->head.name));
    terminate(crash->head.at.path, sizeof(crash->head.at.path));
    terminate(crash->head.below.path, sizeof(crash->head.below.path));
    terminate(crash->head.above.path, sizeof(crash->head.above.path));
    terminate(crash->head.stack.path, sizeof(crash->head.stack.path));
    for (size_t i = 0; i <= LEAK_CRASH_REGISTERS; i++)
        crash->near_site[i] = store_find_site(store, crash->head.near[i].site);
    read_crash_modules(reader, payload, chunk->length, crash);
    if (store->crash)
        interval_map_end(&store->crash->module_spans);
    store->crash = crash;
}

void read_crash(struct reader *reader, const struct chunks *chunks)
{
    for (size_t i = 0; i < chunks->count; i++)
        if (chunks->chunk[i].type == LEAK_CHUNK_CRASH && chunks->chunk[i].length)
            read_crash_chunk(reader, &chunks->chunk[i]);
}
