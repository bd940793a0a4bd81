/* read_leak_check.c - what the last look at the heap found.
 *
 * A look is one chunk: a head and tables. Tables are cut off where the chunk ends; records keep
 * their places, since others name them by these, so one that does not hold stays as an empty one. A
 * look that could not be made says why, and never stands in for an earlier one that could.
 */
#include <string.h>

#include "common/store/reader_internal.h"

struct looking {
    struct reading *reading;
    struct store_look *look;
    const uint8_t *at; /* the payload */
    size_t length;
};

/* Bytes from `at` on that are no hole: nothing is ever taken for a record that was never written,
 * however long the chunk claims to be. */
static size_t solid(const struct image *image, size_t at, size_t length)
{
    size_t end = at;

    for (size_t i = 0; i < image->extent_count; i++)
        if (image->extents[i].start <= end && image->extents[i].end > end)
            end = image->extents[i].end;
    return end - at < length ? end - at : length;
}

/* How many records of a table are there. */
static size_t room_of(struct looking *looking, const struct leak_table *table, size_t size)
{
    size_t room = table->at < looking->length ? (looking->length - table->at) / size : 0;

    if (table->count <= room)
        return table->count;
    looking->reading->damaged++;
    return room;
}

/* A copy of a table, NULL when it is empty. */
static void *copy_table(struct looking *looking, const struct leak_table *table, size_t size,
                        size_t *count)
{
    void *copy;

    *count = room_of(looking, table, size);
    if (!*count)
        return NULL;
    copy = mem_take_array(looking->reading->store->mem, *count, size);
    memcpy(copy, looking->at + table->at, *count * size);
    return copy;
}

/* A part of a table; what does not hold becomes an empty part. */
static void check_part(struct looking *looking, uint32_t *first, uint32_t *count, size_t all)
{
    if (*first <= all && *count <= all - *first)
        return;
    *first = *count = 0;
    looking->reading->damaged++;
}

static void read_roots(struct looking *looking)
{
    struct store_look *look = looking->look;

    look->roots = copy_table(looking, &look->head.roots, sizeof(*look->roots), &look->root_count);
    for (size_t i = 0; i < look->root_count; i++)
        if (look->roots[i].root_class >= LEAK_ROOT_CLASS_MAX) {
            look->roots[i].root_class = LEAK_ROOT_CLASS_NONE;
            looking->reading->damaged++;
        }
}

static void read_steps(struct looking *looking)
{
    struct store_look *look = looking->look;
    struct store *store = looking->reading->store;

    look->step_count = room_of(looking, &look->head.steps, sizeof(struct leak_step));
    look->steps = mem_take_array(store->mem, look->step_count, sizeof(*look->steps));
    for (size_t i = 0; i < look->step_count; i++) {
        struct leak_step step;

        memcpy(&step, looking->at + look->head.steps.at + i * sizeof(step), sizeof(step));
        look->steps[i] = (struct store_step){.offset = step.offset,
                                             .size = step.size,
                                             .site = store_site_of(store, step.site),
                                             .into = step.into};
    }
}

static void read_samples(struct looking *looking)
{
    struct store_look *look = looking->look;

    look->contents = copy_table(looking, &look->head.contents, 1, &look->content_count);
    look->samples =
        copy_table(looking, &look->head.samples, sizeof(*look->samples), &look->sample_count);
    for (size_t i = 0; i < look->sample_count; i++)
        check_part(looking, &look->samples[i].content.first, &look->samples[i].content.count,
                   look->content_count);
}

static void read_threads(struct looking *looking)
{
    struct store_look *look = looking->look;
    struct mem *mem = looking->reading->store->mem;

    look->pcs = copy_table(looking, &look->head.pcs, sizeof(*look->pcs), &look->pc_count);
    look->thread_count = room_of(looking, &look->head.threads, sizeof(struct leak_seen_thread));
    look->threads = mem_take_array(mem, look->thread_count, sizeof(*look->threads));
    for (size_t i = 0; i < look->thread_count; i++) {
        struct leak_seen_thread thread;

        memcpy(&thread, looking->at + look->head.threads.at + i * sizeof(thread), sizeof(thread));
        check_part(looking, &thread.stack.first, &thread.stack.count, look->pc_count);
        look->threads[i] = (struct store_seen_thread){
            .name = mem_copy(mem, thread.name, strnlen(thread.name, LEAK_THREAD_NAME)),
            .serial = thread.serial,
            .tid = thread.tid,
            .parked = thread.parked != 0,
            .taker = thread.taker != 0,
            .pc = thread.stack.first,
            .pc_count = thread.stack.count};
    }
}

static void read_data_modules(struct looking *looking)
{
    struct store_look *look = looking->look;
    size_t length = room_of(looking, &look->head.modules, 1), used;
    const uint8_t *at = looking->at + look->head.modules.at;

    look->modules =
        mem_take_array(looking->reading->store->mem,
                       length / offsetof(struct leak_module, path) + 1, sizeof(*look->modules));
    for (; length; at += used, length -= used) {
        struct store_module *made = &look->modules[look->module_count];

        used = read_module(looking->reading, at, length, made);
        if (!used)
            break;
        spans_add(&look->module_spans, made->start, made->end, (uint32_t)look->module_count++);
    }
    spans_sort(&look->module_spans);
}

/* ---- What was found ------------------------------------------------------------------------- */

static struct store_found checked_found(struct looking *looking, const struct leak_found *found)
{
    struct store_look *look = looking->look;
    struct store_found made = {.site = store_site_of(looking->reading->store, found->site),
                               .verdict = found->verdict,
                               .flags = found->flags,
                               .owner = found->owner ? found->owner - 1 : STORE_NONE,
                               .root = found->root ? found->root - 1 : STORE_NONE,
                               .first = found->first,
                               .last = found->last,
                               .path = found->path.first,
                               .path_count = found->path.count,
                               .sample = found->sample.first,
                               .sample_count = found->sample.count,
                               .blocks = found->blocks,
                               .bytes = found->bytes,
                               .retained_blocks = found->retained_blocks,
                               .retained_bytes = found->retained_bytes};

    if (made.site == STORE_NO_SITE || !found->verdict || found->verdict >= LEAK_VERDICT_MAX) {
        looking->reading->damaged++;
        return (struct store_found){.owner = STORE_NONE, .root = STORE_NONE};
    }
    check_part(looking, &made.path, &made.path_count, look->step_count);
    check_part(looking, &made.sample, &made.sample_count, look->sample_count);
    if (made.root != STORE_NONE && made.root >= look->root_count) {
        made.root = STORE_NONE;
        looking->reading->damaged++;
    }
    return made;
}

static void read_found(struct looking *looking)
{
    struct store_look *look = looking->look;

    look->found_count = room_of(looking, &look->head.found, sizeof(struct leak_found));
    look->found =
        mem_take_array(looking->reading->store->mem, look->found_count, sizeof(*look->found));
    for (size_t i = 0; i < look->found_count; i++) {
        struct leak_found found;

        memcpy(&found, looking->at + look->head.found.at + i * sizeof(found), sizeof(found));
        look->found[i] = checked_found(looking, &found);
    }
    for (size_t i = 0; i < look->found_count; i++) {
        uint32_t *owner = &look->found[i].owner;

        if (*owner == STORE_NONE ||
            (*owner < look->found_count && look->found[*owner].verdict == LEAK_VERDICT_LOST))
            continue;
        *owner = STORE_NONE;
        looking->reading->damaged++;
    }
}

/* Those of a site that there is. */
static void read_orphans(struct looking *looking)
{
    struct store_look *look = looking->look;
    struct store *store = looking->reading->store;
    size_t count = room_of(looking, &look->head.orphans, sizeof(struct leak_orphan));

    look->orphans = mem_take_array(store->mem, count, sizeof(*look->orphans));
    for (size_t i = 0; i < count; i++) {
        struct leak_orphan orphan;
        struct store_orphan made;

        memcpy(&orphan, looking->at + look->head.orphans.at + i * sizeof(orphan), sizeof(orphan));
        made = (struct store_orphan){
            .site = store_site_of(store, orphan.site),
            .holder = store_site_of(store, orphan.holder),
            .node = read_node(looking->reading, orphan.node, store->node_count),
            .blocks = orphan.blocks,
            .address = orphan.address};
        if (made.site != STORE_NO_SITE)
            look->orphans[look->orphan_count++] = made;
        else
            looking->reading->damaged++;
    }
}

/* Those of a root and a site that there are. */
static void read_parts(struct looking *looking)
{
    struct store_look *look = looking->look;
    struct store *store = looking->reading->store;
    size_t count = room_of(looking, &look->head.parts, sizeof(struct leak_part));

    look->parts = mem_take_array(store->mem, count, sizeof(*look->parts));
    for (size_t i = 0; i < count; i++) {
        struct leak_part part;
        uint32_t site;

        memcpy(&part, looking->at + look->head.parts.at + i * sizeof(part), sizeof(part));
        site = store_site_of(store, part.site);
        if (part.root && part.root <= look->root_count && site != STORE_NO_SITE)
            look->parts[look->part_count++] = (struct store_part){
                .root = part.root - 1, .site = site, .blocks = part.blocks, .bytes = part.bytes};
        else
            looking->reading->damaged++;
    }
}

static void read_ages(struct looking *looking)
{
    struct store_look *look = looking->look;

    look->ages = copy_table(looking, &look->head.ages, sizeof(*look->ages), &look->age_count);
    for (size_t i = 0; i < look->age_count; i++)
        if (look->ages[i].found >= look->found_count) {
            look->ages[i] = (struct leak_age){0};
            looking->reading->damaged++;
        }
}

/* ---- Who points at a block ------------------------------------------------------------------ */

static void read_pointers(struct looking *looking)
{
    struct store_look *look = looking->look;

    look->pointers =
        copy_table(looking, &look->head.pointers, sizeof(*look->pointers), &look->pointer_count);
    for (size_t i = 0; i < look->pointer_count; i++)
        if (look->pointers[i].root > look->root_count) {
            look->pointers[i].root = 0;
            looking->reading->damaged++;
        }
}

/* ---- Which one ------------------------------------------------------------------------------ */

/* False: it was never published, or its head does not hold. */
static bool read_head(struct reading *reading, const struct chunk *chunk,
                      struct leak_snapshot *head)
{
    size_t length;

    if (chunk->type != LEAK_CHUNK_SNAPSHOT || !chunk->length)
        return false;
    length = solid(reading->image, chunk->payload, chunk->length);
    if (length >= sizeof(*head))
        memcpy(head, reading->image->data + chunk->payload, sizeof(*head));
    if (length < sizeof(*head) || head->head_size != sizeof(*head) ||
        head->rung > LEAK_RUNG_PARKED) {
        reading->damaged++;
        return false;
    }
    if (head->occasion >= LEAK_OCCASION_MAX)
        head->occasion = LEAK_OCCASION_NONE;
    if (head->trouble >= LEAK_TROUBLE_MAX)
        head->trouble = LEAK_TROUBLE_NONE;
    return true;
}

static struct store_look *begin_look(struct store *store, const struct leak_snapshot *head)
{
    struct store_look *look = mem_take(store->mem, sizeof(*look));

    look->head = *head;
    store->look = look;
    return look;
}

static void read_tables(struct reading *reading, const struct chunk *chunk, struct store_look *look)
{
    struct looking looking = {.reading = reading,
                              .look = look,
                              .at = reading->image->data + chunk->payload,
                              .length = solid(reading->image, chunk->payload, chunk->length)};

    read_roots(&looking);
    read_steps(&looking);
    read_samples(&looking);
    read_threads(&looking);
    read_data_modules(&looking);
    read_found(&looking);
    read_orphans(&looking);
    read_ages(&looking);
    read_pointers(&looking);
    read_parts(&looking);
}

/* Their places say nothing of their order: old ones are written over. */
static bool later(const struct leak_snapshot *one, const struct leak_snapshot *other)
{
    return other->when_ns >= one->when_ns;
}

void read_look(struct reading *reading, const struct chunks *chunks)
{
    struct store *store = reading->store;
    struct leak_snapshot head, made = {0}, failed = {0};
    const struct chunk *last = NULL;
    bool has_failed;

    for (size_t i = 0; i < chunks->count; i++) {
        if (!read_head(reading, &chunks->chunk[i], &head))
            continue;
        if (head.rung == LEAK_RUNG_NONE) {
            failed = later(&failed, &head) ? head : failed;
        } else if (!last || later(&made, &head)) {
            made = head;
            last = &chunks->chunk[i];
        }
    }
    has_failed = failed.head_size && (!last || later(&made, &failed));
    if (last)
        read_tables(reading, last, begin_look(store, &made));
    if (has_failed && !last)
        begin_look(store, &failed);
    else if (has_failed)
        store->failed = memcpy(mem_take(store->mem, sizeof(failed)), &failed, sizeof(failed));
}
