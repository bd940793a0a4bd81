/* read_resources.c - what was open besides memory, and closes of what was not.
 *
 * A record that names a kind, sort or thread nobody knows is left out; a node that is not there
 * ends its stack.
 */
#include <string.h>

#include "common/store/reader_internal.h"

static struct store_mark read_mark(struct reading *reading, const struct leak_mark *mark)
{
    struct store_mark made = {.thread = mark->thread, .tick = mark->tick};

    if (mark->node) /* else 0, which is LEAK_ROOT_NONE: nobody saw it */
        made.node = read_node(reading, mark->node, reading->store->node_count);
    return made;
}

static bool holds(const struct leak_resource *resource)
{
    return (resource->state == LEAK_RESOURCE_OPEN || resource->state == LEAK_RESOURCE_BAD_CLOSE) &&
           resource->type > LEAK_RESOURCE_NONE && resource->type < LEAK_RESOURCE_MAX &&
           resource->sort < LEAK_SORT_MAX && resource->name_form <= LEAK_NAME_LOCAL &&
           resource->name_length <= LEAK_RESOURCE_NAME;
}

static void add_resource(struct reading *reading, const struct leak_resource *resource)
{
    struct store *store = reading->store;
    struct store_resource *made;

    if (!holds(resource)) {
        reading->damaged++;
        return;
    }
    store->resources = mem_more(store->resources, &reading->resource_capacity,
                                store->resource_count + 1, sizeof(*store->resources));
    made = &store->resources[store->resource_count++];
    *made =
        (struct store_resource){.type = resource->type,
                                .bad_close = resource->state == LEAK_RESOURCE_BAD_CLOSE,
                                .sort = resource->sort,
                                .flags = resource->flags,
                                .name_form = resource->name_form,
                                .name = mem_copy(store->mem, resource->name, resource->name_length),
                                .name_length = resource->name_length,
                                .count = resource->count ? resource->count : 1,
                                .id = resource->id,
                                .bytes = resource->bytes,
                                .opened = read_mark(reading, &resource->opened),
                                .closed = read_mark(reading, &resource->closed),
                                .again = read_mark(reading, &resource->again),
                                .fd = resource->fd};
}

static void add_totals(struct store *store, const struct leak_resource *place)
{
    struct leak_resource_totals totals;

    memcpy(&totals, place, sizeof(totals));
    for (int i = 0; i < LEAK_RESOURCE_MAX; i++)
        store->resources_opened[i] += totals.opened[i];
    store->resources_missed += totals.missed;
}

void read_resources(struct reading *reading, const struct chunk *chunk)
{
    size_t room = (chunk->end - chunk->payload) / sizeof(struct leak_resource);
    size_t count = chunk->length / sizeof(struct leak_resource);

    if (chunk->type != LEAK_CHUNK_RESOURCES)
        return;
    for (size_t i = 0; i < count && i < room; i++) {
        struct leak_resource resource;

        memcpy(&resource, reading->image->data + chunk->payload + i * sizeof(resource),
               sizeof(resource));
        if (resource.state == LEAK_RESOURCE_TOTALS)
            add_totals(reading->store, &resource);
        else if (resource.state != LEAK_RESOURCE_FREE)
            add_resource(reading, &resource);
    }
}
