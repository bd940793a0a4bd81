/* read_sites.c - reads threads, nodes of call stacks, sites, tags and counts.
 *
 * These are arrays of records of one size, which are numbered across chunks. Ids become indices;
 * a node's parent has a smaller index, and a site's node is in range. The counts of a site
 * follow from the equation of leak_store.h:
 *
 *     live(site) = folded(site) + sum over threads of slots(site) */
#include <stdlib.h>

#include "common/store/reader_internal.h"

/* ---- Threads, nodes and sites ---------------------------------------------------------------- */

static void add_runs(struct reader *reader, struct runs *runs, const struct chunk *chunk,
                     size_t size)
{
    runs_add(runs, reader->image, chunk, 0, size,
             chunk->length ? chunk->length / size : UINT64_MAX);
}

void read_arrays_note(struct reader *reader, const struct chunk *chunk)
{
    switch (chunk->type) {
    case LEAK_CHUNK_THREADS:
        add_runs(reader, &reader->threads, chunk, sizeof(struct leak_thread));
        break;
    case LEAK_CHUNK_NODES:
        add_runs(reader, &reader->nodes, chunk, sizeof(struct leak_node));
        break;
    case LEAK_CHUNK_SITES:
        add_runs(reader, &reader->sites, chunk, sizeof(struct leak_site));
        break;
    case LEAK_CHUNK_TEMPORARY:
        add_runs(reader, &reader->temporary, chunk, sizeof(struct leak_temporary));
        break;
    case LEAK_CHUNK_VARIANCES:
        add_runs(reader, &reader->variances, chunk, sizeof(struct leak_variance));
        break;
    case LEAK_CHUNK_FREED:
        add_runs(reader, &reader->freed, chunk, sizeof(struct leak_freed));
        break;
    }
}

static int by_serial(const void *left, const void *right)
{
    const struct store_thread *a = left, *b = right;

    return COMPARE(a->serial, b->serial);
}

static void read_threads(struct reader *reader)
{
    struct store *store = reader->store;
    size_t total = 0, kept = 0;

    for (size_t i = 0; i < reader->threads.count; i++)
        total += reader->threads.run[i].count;
    store->threads = arena_alloc_array(store->mem, total, sizeof(*store->threads));
    for (size_t i = 0; i < reader->threads.count; i++)
        for (size_t k = 0; k < reader->threads.run[i].count; k++) {
            struct leak_thread thread;

            copy_record(&thread, reader->threads.run[i].at, k, sizeof(thread));
            if (!thread.serial)
                continue;
            store->threads[store->thread_count++] =
                (struct store_thread){.serial = thread.serial,
                                      .tid = thread.tid,
                                      .allocations = thread.allocations,
                                      .walks = thread.walks,
                                      .ended = thread.ended != 0,
                                      .frames_walked = thread.frames_walked,
                                      .frames_shared = thread.frames_shared,
                                      .name = arena_copy(store->mem, thread.name,
                                                         strnlen(thread.name, LEAK_THREAD_NAME))};
        }
    if (store->thread_count)
        qsort(store->threads, store->thread_count, sizeof(*store->threads), by_serial);
    /* If two records of threads have the same serial number, the first counts. */
    for (size_t i = 0; i < store->thread_count; i++)
        if (!kept || store->threads[kept - 1].serial != store->threads[i].serial)
            store->threads[kept++] = store->threads[i];
    store->thread_count = kept;
}

uint32_t read_node(struct reader *reader, uint32_t id, size_t limit)
{
    size_t index;

    if (id < LEAK_NODE_FIRST)
        return id == LEAK_ROOT_NONE || id > LEAK_ROOT_DISABLED ? STORE_ROOT_MISSING : id;
    index = runs_find(&reader->nodes, id);
    if (index != SIZE_MAX && index < limit)
        return (uint32_t)index;
    reader->damaged++;
    return STORE_ROOT_MISSING;
}

static void read_nodes(struct reader *reader)
{
    struct store *store = reader->store;

    reader->damaged += runs_index(&reader->nodes, LEAK_NODE_FIRST, &store->node_count);
    store->nodes = arena_alloc_array(store->mem, store->node_count, sizeof(*store->nodes));
    for (size_t i = 0; i < reader->nodes.count; i++) {
        const struct run *run = &reader->nodes.run[i];

        for (size_t k = 0; k < run->count; k++) {
            struct store_node *made = &store->nodes[run->base + k];
            struct leak_node node;

            copy_record(&node, run->at, k, sizeof(node));
            made->parent = STORE_ROOT_MISSING;
            if (!node.pc)
                continue;
            made->pc = node.pc & LEAK_PC_MOST;
            made->number = node.number;
            made->parent = read_node(reader, node.parent & LEAK_NODE_MOST, run->base + k);
        }
    }
}

static struct store_site make_site(struct reader *reader, const struct leak_site *site, uint32_t id)
{
    const struct leak_header *header = &reader->store->header;
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
        reader->damaged++;
        made.kind = LEAK_KIND_NONE;
    }
    if (made.tag > LEAK_TAGS) {
        reader->damaged++;
        made.tag = 0;
    }
    made.node = read_node(reader, site->node, reader->store->node_count);
    return made;
}

static void read_sites(struct reader *reader)
{
    struct store *store = reader->store;

    reader->damaged += runs_index(&reader->sites, 0, &store->site_count);
    store->sites = arena_alloc_array(store->mem, store->site_count, sizeof(*store->sites));
    for (size_t i = 0; i < reader->sites.count; i++) {
        const struct run *run = &reader->sites.run[i];

        for (size_t k = 0; k < run->count; k++) {
            struct leak_site site;

            copy_record(&site, run->at, k, sizeof(site));
            if (site.node && run->first + k)
                store->sites[run->base + k] = make_site(reader, &site, (uint32_t)(run->first + k));
        }
    }
}

void read_arrays(struct reader *reader)
{
    read_threads(reader);
    read_nodes(reader);
    read_sites(reader);
}

/* ---- Tags ------------------------------------------------------------------------------------ */

/* Reads the name of a tag. Sites refer to tags by number; a tag without a valid name gets its
 * number as name. */
static void read_tag(struct reader *reader, size_t tag, const uint8_t *at)
{
    struct leak_tag record;

    memcpy(&record, at, sizeof(record));
    if (!record.length)
        return; /* this tag and all behind it are unused */
    if (record.length < LEAK_TAG_NAME && strnlen(record.name, LEAK_TAG_NAME) == record.length)
        reader->store->tags[tag] = arena_copy(reader->store->mem, record.name, record.length);
    else
        reader->damaged++;
}

static void read_tag_table(struct reader *reader, const struct chunk *chunk)
{
    const uint8_t *payload = reader->image->data + chunk->payload;
    size_t room = chunk->end - chunk->payload, head = offsetof(struct leak_tags, tag);
    struct leak_tags tags = {0};

    if (room < head)
        return;
    memcpy(&tags, payload, head);
    reader->store->tags_left_out = tags.left_out;
    for (size_t i = 0; i < LEAK_TAGS && (i + 1) * sizeof(struct leak_tag) <= room - head; i++)
        read_tag(reader, i + 1, payload + head + i * sizeof(struct leak_tag));
}

static bool has_tags(const struct store *store)
{
    for (size_t i = 0; i < store->site_count; i++)
        if (store->sites[i].tag)
            return true;
    return false;
}

void read_tags(struct reader *reader, const struct chunks *chunks)
{
    struct store *store = reader->store;
    const struct chunk *table = chunks_first(chunks, LEAK_CHUNK_TAGS);

    if (!table && !has_tags(store))
        return;
    store->tags = arena_alloc_array(store->mem, LEAK_TAGS + 1, sizeof(*store->tags));
    if (table)
        read_tag_table(reader, table);
    for (size_t i = 0; i < store->site_count; i++) {
        uint32_t tag = store->sites[i].tag;

        if (tag && !store->tags[tag])
            store->tags[tag] = arena_format(store->mem, "[tag %u]", (unsigned)tag);
    }
}

/* ---- Counts ---------------------------------------------------------------------------------- */

static void add_thread(struct store_site *site, uint32_t thread)
{
    for (int i = 0; i < LEAK_SITE_THREADS; i++) {
        if (!site->threads[i])
            site->threads[i] = thread;
        if (site->threads[i] == thread)
            return;
    }
    site->more_threads = true;
}

/* Finds a published site by its id; NULL: there is none, and the reference is counted as
 * damaged. */
static struct store_site *find_site(struct reader *reader, uint32_t id)
{
    size_t index = runs_find(&reader->sites, id);

    if (index != SIZE_MAX && reader->store->sites[index].id)
        return &reader->store->sites[index];
    reader->damaged++;
    return NULL;
}

static void add_slot(struct reader *reader, uint32_t thread, const struct leak_slot *slot,
                     bool folded)
{
    struct store_site *site = find_site(reader, slot->site);

    if (!site)
        return;
    if (slot->last > site->last)
        site->last = slot->last;
    if (slot->counts.allocs)
        add_thread(site, thread);
    if (folded)
        return; /* the fold contains these counts: the thread died before it cleared the slot */
    site->counts.allocs += slot->counts.allocs;
    site->counts.bytes += slot->counts.bytes;
    site->counts.frees += slot->counts.frees;
    site->counts.freed_bytes += slot->counts.freed_bytes;
}

static bool read_slots_header(const struct reader *reader, const struct chunk *chunk,
                              struct leak_slots *slots)
{
    if (chunk->end - chunk->payload < sizeof(*slots))
        return false;
    memcpy(slots, reader->image->data + chunk->payload, sizeof(*slots));
    return slots->thread != 0;
}

/* Reads the fold of a thread that died while it folded a slot into a site: the sum in the fold
 * replaces the counts of the site. Must run before slots are added. */
static void read_fold(struct reader *reader, const struct chunk *chunk)
{
    struct leak_slots slots;
    struct store_site *site;

    if (read_slots_header(reader, chunk, &slots) && slots.fold_site &&
        (site = find_site(reader, slots.fold_site)))
        site->counts = slots.fold;
}

static void read_slots(struct reader *reader, const struct chunk *chunk)
{
    struct leak_slots slots;
    struct runs runs = {0};

    if (!read_slots_header(reader, chunk, &slots))
        return;
    runs_add(&runs, reader->image, chunk, sizeof(slots), sizeof(struct leak_slot), slots.count);
    for (size_t i = 0, index = 0; i < runs.count; i++)
        for (size_t k = 0; k < runs.run[i].count; k++, index++) {
            struct leak_slot slot;
            bool folded;

            copy_record(&slot, runs.run[i].at, k, sizeof(slot));
            folded = slot.site == slots.fold_site && index == slots.fold_slot;
            if (slot.site)
                add_slot(reader, slots.thread, &slot, folded);
        }
    runs_end(&runs);
}

/* Turns a sum with the highest bit set into 0: slots hold differences, so a sum that is read
 * between two updates may be below 0. */
static uint64_t clamp_negative(uint64_t sum)
{
    return sum >> 63 ? 0 : sum;
}

static void read_variances(struct reader *reader)
{
    size_t total;

    if (!reader->store->header.sample)
        return; /* without sampling, counts are exact, and the records of variances mean nothing */
    reader->damaged += runs_index(&reader->variances, 0, &total);
    for (size_t i = 0; i < reader->variances.count; i++) {
        const struct run *run = &reader->variances.run[i];

        for (size_t k = 0; k < run->count; k++) {
            struct leak_variance variance;
            size_t index;

            copy_record(&variance, run->at, k, sizeof(variance));
            index = variance.samples ? runs_find(&reader->sites, run->first + k) : SIZE_MAX;
            if (index == SIZE_MAX)
                continue;
            reader->store->sites[index].variance =
                (struct leak_variance){.samples = clamp_negative(variance.samples),
                                       .blocks = clamp_negative(variance.blocks),
                                       .bytes = clamp_negative(variance.bytes)};
        }
    }
}

static void read_temporary(struct reader *reader)
{
    size_t total;

    reader->damaged += runs_index(&reader->temporary, 0, &total);
    for (size_t i = 0; i < reader->temporary.count; i++) {
        const struct run *run = &reader->temporary.run[i];

        for (size_t k = 0; k < run->count; k++) {
            struct leak_temporary temporary;
            size_t index;

            copy_record(&temporary, run->at, k, sizeof(temporary));
            index = temporary.blocks ? runs_find(&reader->sites, run->first + k) : SIZE_MAX;
            if (index != SIZE_MAX)
                reader->store->sites[index].temporary = temporary;
        }
    }
}

/* Leaves out sites that were never published, and computes the live blocks of the others. In a
 * running process a free may be read before its allocation: then the site has no live blocks. */
static void finish_sites(struct store *store)
{
    size_t kept = 0;

    for (size_t i = 0; i < store->site_count; i++) {
        struct store_site *site = &store->sites[i];
        const struct leak_counts *counts = &site->counts;

        if (!site->id)
            continue;
        if (counts->allocs > counts->frees)
            site->live_blocks = counts->allocs - counts->frees;
        if (site->live_blocks && counts->bytes > counts->freed_bytes)
            site->live_bytes = counts->bytes - counts->freed_bytes;
        if (!site->live_blocks)
            site->variance = (struct leak_variance){0};
        store->sites[kept++] = *site;
    }
    store->site_count = kept;
}

void read_counts(struct reader *reader, const struct chunks *chunks)
{
    for (size_t i = 0; i < chunks->count; i++)
        if (chunks->chunk[i].type == LEAK_CHUNK_SLOTS)
            read_fold(reader, &chunks->chunk[i]);
    for (size_t i = 0; i < chunks->count; i++)
        if (chunks->chunk[i].type == LEAK_CHUNK_SLOTS)
            read_slots(reader, &chunks->chunk[i]);
    read_variances(reader);
    read_temporary(reader);
    finish_sites(reader->store);
}
