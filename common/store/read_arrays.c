/* read_arrays.c - threads, nodes and sites: records of one size, numbered across chunks.
 *
 * Ids become indices: a parent is always below its child, a site's node is in range.
 */
#include <stdlib.h>
#include <string.h>

#include "common/store/reader_internal.h"

static void add_array(struct reading *reading, struct runs *runs, const struct chunk *chunk,
                      size_t size)
{
    runs_add(runs, reading->image, chunk, 0, size,
             chunk->length ? chunk->length / size : UINT64_MAX);
}

void read_arrays_note(struct reading *reading, const struct chunk *chunk)
{
    if (chunk->type == LEAK_CHUNK_THREADS)
        add_array(reading, &reading->threads, chunk, sizeof(struct leak_thread));
    else if (chunk->type == LEAK_CHUNK_NODES)
        add_array(reading, &reading->nodes, chunk, sizeof(struct leak_node));
    else if (chunk->type == LEAK_CHUNK_SITES)
        add_array(reading, &reading->sites, chunk, sizeof(struct leak_site));
    else if (chunk->type == LEAK_CHUNK_VARIANCES)
        add_array(reading, &reading->variances, chunk, sizeof(struct leak_variance));
    else if (chunk->type == LEAK_CHUNK_FREED)
        add_array(reading, &reading->freed, chunk, sizeof(struct leak_freed));
}

static int by_serial(const void *left, const void *right)
{
    const struct store_thread *a = left, *b = right;

    return a->serial < b->serial ? -1 : a->serial > b->serial;
}

static void read_threads(struct reading *reading)
{
    struct store *store = reading->store;
    size_t total = 0, kept = 0;

    for (size_t i = 0; i < reading->threads.count; i++)
        total += reading->threads.run[i].count;
    store->threads = mem_take_array(store->mem, total, sizeof(*store->threads));
    for (size_t i = 0; i < reading->threads.count; i++)
        for (size_t k = 0; k < reading->threads.run[i].count; k++) {
            struct leak_thread thread;

            memcpy(&thread, reading->threads.run[i].at + k * sizeof(thread), sizeof(thread));
            if (!thread.serial)
                continue;
            store->threads[store->thread_count++] = (struct store_thread){
                .serial = thread.serial,
                .tid = thread.tid,
                .allocations = thread.allocations,
                .walks = thread.walks,
                .ended = thread.ended != 0,
                .frames_walked = thread.frames_walked,
                .frames_shared = thread.frames_shared,
                .name = mem_copy(store->mem, thread.name, strnlen(thread.name, LEAK_THREAD_NAME))};
        }
    if (store->thread_count)
        qsort(store->threads, store->thread_count, sizeof(*store->threads), by_serial);
    for (size_t i = 0; i < store->thread_count; i++) /* a serial twice: the first one counts */
        if (!kept || store->threads[kept - 1].serial != store->threads[i].serial)
            store->threads[kept++] = store->threads[i];
    store->thread_count = kept;
}

uint32_t read_node(struct reading *reading, uint32_t id, size_t limit)
{
    size_t index;

    if (id < LEAK_NODE_FIRST)
        return id == LEAK_ROOT_NONE || id > LEAK_ROOT_DISABLED ? STORE_ROOT_MISSING : id;
    index = runs_find(&reading->nodes, id);
    if (index != SIZE_MAX && index < limit)
        return (uint32_t)index;
    reading->damaged++;
    return STORE_ROOT_MISSING;
}

static void read_nodes(struct reading *reading)
{
    struct store *store = reading->store;

    reading->damaged += runs_index(&reading->nodes, LEAK_NODE_FIRST, &store->node_count);
    store->nodes = mem_take_array(store->mem, store->node_count, sizeof(*store->nodes));
    for (size_t i = 0; i < reading->nodes.count; i++) {
        const struct run *run = &reading->nodes.run[i];

        for (size_t k = 0; k < run->count; k++) {
            struct store_node *made = &store->nodes[run->base + k];
            struct leak_node node;

            memcpy(&node, run->at + k * sizeof(node), sizeof(node));
            made->parent = STORE_ROOT_MISSING;
            if (!node.pc)
                continue;
            made->pc = node.pc & LEAK_PC_MOST;
            made->number = node.number;
            made->parent = read_node(reading, node.parent & LEAK_NODE_MOST, run->base + k);
        }
    }
}

static struct store_site checked_site(struct reading *reading, const struct leak_site *site,
                                      uint32_t id)
{
    const struct leak_header *header = &reading->store->header;
    struct store_site made = {.id = id,
                              .kind = site->kind,
                              .tag = site->tag,
                              .first = site->first,
                              .last = site->last,
                              .more_threads = site->more_threads != 0,
                              .counts = site->counts,
                              .inherited = (header->flags & LEAK_FLAG_FORKED) &&
                                           id <= header->inherited_sites};

    memcpy(made.threads, site->threads, sizeof(made.threads));
    if (made.kind >= LEAK_KIND_MAX) {
        reading->damaged++;
        made.kind = LEAK_KIND_NONE;
    }
    if (made.tag > LEAK_TAGS) {
        reading->damaged++;
        made.tag = 0;
    }
    made.node = read_node(reading, site->node, reading->store->node_count);
    return made;
}

static void read_sites(struct reading *reading)
{
    struct store *store = reading->store;

    reading->damaged += runs_index(&reading->sites, 0, &store->site_count);
    store->sites = mem_take_array(store->mem, store->site_count, sizeof(*store->sites));
    for (size_t i = 0; i < reading->sites.count; i++) {
        const struct run *run = &reading->sites.run[i];

        for (size_t k = 0; k < run->count; k++) {
            struct leak_site site;

            memcpy(&site, run->at + k * sizeof(site), sizeof(site));
            if (site.node && run->first + k)
                store->sites[run->base + k] =
                    checked_site(reading, &site, (uint32_t)(run->first + k));
        }
    }
}

void read_arrays(struct reading *reading)
{
    read_threads(reading);
    read_nodes(reading);
    read_sites(reading);
}
