/* read_leak_check.c - reads the results of the last leak check.
 *
 * A leak check is one chunk: a head and tables. A table is cut off where the chunk ends. Other
 * records refer to records by index, so an invalid record is not removed but made empty. A leak
 * check that failed has the reason; it never replaces an earlier one that succeeded. */
#include "common/store/reader_internal.h"

struct check_reader {
    struct reader *reader;
    struct store_leak_check *look;
    const uint8_t *at; /* start of the chunk's payload in the image */
    size_t length;
};

/* Returns how many of the `length` bytes at `at` lie before the first hole. A hole was never
 * written, so it must not be read as records, whatever length the chunk claims. */
static size_t length_before_hole(const struct store_image *image, size_t at, size_t length)
{
    size_t end = at;

    for (size_t i = 0; i < image->extent_count; i++)
        if (image->extents[i].start <= end && image->extents[i].end > end)
            end = image->extents[i].end;
    return end - at < length ? end - at : length;
}

/* Returns the number of records of a table that lie inside of the chunk. */
static size_t count_records(struct check_reader *tables, const struct leak_table *table,
                            size_t size)
{
    size_t room = table->at < tables->length ? (tables->length - table->at) / size : 0;

    if (table->count <= room)
        return table->count;
    tables->reader->damaged++;
    return room;
}

/* Returns a copy of the records of a table; NULL if it has none. */
static void *copy_table(struct check_reader *tables, const struct leak_table *table, size_t size,
                        size_t *count)
{
    void *copy;

    *count = count_records(tables, table, size);
    if (!*count)
        return NULL;
    copy = arena_alloc_array(tables->reader->store->mem, *count, size);
    memcpy(copy, tables->at + table->at, *count * size);
    return copy;
}

/* Checks the range of *count records from *first on in another table, which has `all` records:
 * makes the range empty if it reaches beyond that table. */
static void check_range(struct check_reader *tables, uint32_t *first, uint32_t *count, size_t all)
{
    if (*first <= all && *count <= all - *first)
        return;
    *first = *count = 0;
    tables->reader->damaged++;
}

static void read_roots(struct check_reader *tables)
{
    struct store_leak_check *look = tables->look;

    look->roots = copy_table(tables, &look->head.roots, sizeof(*look->roots), &look->root_count);
    for (size_t i = 0; i < look->root_count; i++)
        if (look->roots[i].root_class >= LEAK_ROOT_CLASS_MAX) {
            look->roots[i].root_class = LEAK_ROOT_CLASS_NONE;
            tables->reader->damaged++;
        }
}

static void read_steps(struct check_reader *tables)
{
    struct store_leak_check *look = tables->look;
    struct store *store = tables->reader->store;

    look->step_count = count_records(tables, &look->head.steps, sizeof(struct leak_step));
    look->steps = arena_alloc_array(store->mem, look->step_count, sizeof(*look->steps));
    for (size_t i = 0; i < look->step_count; i++) {
        struct leak_step step;

        copy_record(&step, tables->at + look->head.steps.at, i, sizeof(step));
        look->steps[i] = (struct store_step){.offset = step.offset,
                                             .size = step.size,
                                             .site = store_find_site(store, step.site),
                                             .into = step.into};
    }
}

static void read_samples(struct check_reader *tables)
{
    struct store_leak_check *look = tables->look;

    look->contents = copy_table(tables, &look->head.contents, 1, &look->content_count);
    look->samples =
        copy_table(tables, &look->head.samples, sizeof(*look->samples), &look->sample_count);
    for (size_t i = 0; i < look->sample_count; i++)
        check_range(tables, &look->samples[i].content.first, &look->samples[i].content.count,
                    look->content_count);
}

static void read_threads(struct check_reader *tables)
{
    struct store_leak_check *look = tables->look;
    struct arena *mem = tables->reader->store->mem;

    look->pcs = copy_table(tables, &look->head.pcs, sizeof(*look->pcs), &look->pc_count);
    look->thread_count =
        count_records(tables, &look->head.threads, sizeof(struct leak_seen_thread));
    look->threads = arena_alloc_array(mem, look->thread_count, sizeof(*look->threads));
    for (size_t i = 0; i < look->thread_count; i++) {
        struct leak_seen_thread thread;

        copy_record(&thread, tables->at + look->head.threads.at, i, sizeof(thread));
        check_range(tables, &thread.stack.first, &thread.stack.count, look->pc_count);
        look->threads[i] = (struct store_seen_thread){
            .name = arena_copy(mem, thread.name, strnlen(thread.name, LEAK_THREAD_NAME)),
            .serial = thread.serial,
            .tid = thread.tid,
            .parked = thread.parked != 0,
            .taker = thread.taker != 0,
            .pc = thread.stack.first,
            .pc_count = thread.stack.count};
    }
}

static void read_check_modules(struct check_reader *tables)
{
    struct store_leak_check *look = tables->look;
    size_t length = count_records(tables, &look->head.modules, 1);

    look->modules = read_module_list(tables->reader, tables->at + look->head.modules.at, length,
                                     &look->module_count, &look->module_spans);
}

/* ---- Results: sites with verdicts, and owners ------------------------------------------------ */

static struct store_found make_found(struct check_reader *tables, const struct leak_found *found)
{
    struct store_leak_check *look = tables->look;
    struct store_found made = {.site = store_find_site(tables->reader->store, found->site),
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
        tables->reader->damaged++;
        return (struct store_found){.owner = STORE_NONE, .root = STORE_NONE};
    }
    check_range(tables, &made.path, &made.path_count, look->step_count);
    check_range(tables, &made.sample, &made.sample_count, look->sample_count);
    if (made.root != STORE_NONE && made.root >= look->root_count) {
        made.root = STORE_NONE;
        tables->reader->damaged++;
    }
    return made;
}

static void read_found(struct check_reader *tables)
{
    struct store_leak_check *look = tables->look;

    look->found_count = count_records(tables, &look->head.found, sizeof(struct leak_found));
    look->found =
        arena_alloc_array(tables->reader->store->mem, look->found_count, sizeof(*look->found));
    for (size_t i = 0; i < look->found_count; i++) {
        struct leak_found found;

        copy_record(&found, tables->at + look->head.found.at, i, sizeof(found));
        look->found[i] = make_found(tables, &found);
    }
    for (size_t i = 0; i < look->found_count; i++) {
        uint32_t *owner = &look->found[i].owner;

        if (*owner == STORE_NONE ||
            (*owner < look->found_count && look->found[*owner].verdict == LEAK_VERDICT_LOST))
            continue;
        *owner = STORE_NONE;
        tables->reader->damaged++;
    }
}

/* Reads pairs of sites: the site of lost blocks, and the site of the freed blocks that had a
 * pointer to them (holders). Drops a pair whose lost site does not exist. */
static void read_orphans(struct check_reader *tables)
{
    struct store_leak_check *look = tables->look;
    struct store *store = tables->reader->store;
    size_t count = count_records(tables, &look->head.orphans, sizeof(struct leak_orphan));

    look->orphans = arena_alloc_array(store->mem, count, sizeof(*look->orphans));
    for (size_t i = 0; i < count; i++) {
        struct leak_orphan orphan;
        struct store_orphan made;

        copy_record(&orphan, tables->at + look->head.orphans.at, i, sizeof(orphan));
        made =
            (struct store_orphan){.site = store_find_site(store, orphan.site),
                                  .holder = store_find_site(store, orphan.holder),
                                  .node = read_node(tables->reader, orphan.node, store->node_count),
                                  .blocks = orphan.blocks,
                                  .address = orphan.address};
        if (made.site != STORE_NO_SITE)
            look->orphans[look->orphan_count++] = made;
        else
            tables->reader->damaged++;
    }
}

/* Reads how much of each site each root keeps alive; drops records whose root or site does not
 * exist. */
static void read_parts(struct check_reader *tables)
{
    struct store_leak_check *look = tables->look;
    struct store *store = tables->reader->store;
    size_t count = count_records(tables, &look->head.parts, sizeof(struct leak_part));

    look->parts = arena_alloc_array(store->mem, count, sizeof(*look->parts));
    for (size_t i = 0; i < count; i++) {
        struct leak_part part;
        uint32_t site;

        copy_record(&part, tables->at + look->head.parts.at, i, sizeof(part));
        site = store_find_site(store, part.site);
        if (part.root && part.root <= look->root_count && site != STORE_NO_SITE)
            look->parts[look->part_count++] = (struct store_part){
                .root = part.root - 1, .site = site, .blocks = part.blocks, .bytes = part.bytes};
        else
            tables->reader->damaged++;
    }
}

static void read_interiors(struct check_reader *tables)
{
    struct store_leak_check *look = tables->look;
    struct store *store = tables->reader->store;
    size_t count = count_records(tables, &look->head.interiors, sizeof(struct leak_interior));

    look->interiors = arena_alloc_array(store->mem, count, sizeof(*look->interiors));
    for (size_t i = 0; i < count; i++) {
        struct leak_interior interior;
        uint32_t site;

        copy_record(&interior, tables->at + look->head.interiors.at, i, sizeof(interior));
        site = interior.holder ? store_find_site(store, interior.holder) : STORE_NO_SITE;
        if (interior.found < look->found_count && (!interior.holder || site != STORE_NO_SITE))
            look->interiors[look->interior_count++] =
                (struct store_interior){.found = interior.found,
                                        .holder = site,
                                        .offset = interior.offset,
                                        .blocks = interior.blocks};
        else
            tables->reader->damaged++;
    }
}

static void read_losses(struct check_reader *tables)
{
    struct store_leak_check *look = tables->look;
    struct store *store = tables->reader->store;
    size_t count = count_records(tables, &look->head.losses, sizeof(struct leak_loss));

    look->losses = arena_alloc_array(store->mem, count, sizeof(*look->losses));
    for (size_t i = 0; i < count; i++) {
        struct leak_loss loss;
        uint32_t site;

        copy_record(&loss, tables->at + look->head.losses.at, i, sizeof(loss));
        site = store_find_site(store, loss.site);
        if (site != STORE_NO_SITE && loss.first.by_ns && loss.last.by_ns)
            look->losses[look->loss_count++] =
                (struct store_loss){.site = site, .first = loss.first, .last = loss.last};
        else
            tables->reader->damaged++;
    }
}

static void read_ages(struct check_reader *tables)
{
    struct store_leak_check *look = tables->look;

    look->ages = copy_table(tables, &look->head.ages, sizeof(*look->ages), &look->age_count);
    for (size_t i = 0; i < look->age_count; i++)
        if (look->ages[i].found >= look->found_count) {
            look->ages[i] = (struct leak_age){0};
            tables->reader->damaged++;
        }
}

/* ---- The pointers to a block that the user asked about --------------------------------------- */

static void read_pointers(struct check_reader *tables)
{
    struct store_leak_check *look = tables->look;

    look->pointers =
        copy_table(tables, &look->head.pointers, sizeof(*look->pointers), &look->pointer_count);
    for (size_t i = 0; i < look->pointer_count; i++)
        if (look->pointers[i].root > look->root_count) {
            look->pointers[i].root = 0;
            tables->reader->damaged++;
        }
}

/* ---- Choosing the leak check to read --------------------------------------------------------- */

#define HEAD_LEAST offsetof(struct leak_snapshot, interiors)

/* Reads the head of a leak check. Fields that an older version lacks become zero. False: it was
 * never published, or is invalid. */
static bool read_head(struct reader *reader, const struct chunk *chunk, struct leak_snapshot *head)
{
    uint32_t size = 0;
    size_t length;

    if (chunk->type != LEAK_CHUNK_SNAPSHOT || !chunk->length)
        return false;
    length = length_before_hole(reader->image, chunk->payload, chunk->length);
    memset(head, 0, sizeof(*head));
    if (length >= sizeof(size))
        memcpy(&size, reader->image->data + chunk->payload, sizeof(size));
    if (size >= HEAD_LEAST && size <= sizeof(*head) && size <= length)
        memcpy(head, reader->image->data + chunk->payload, size);
    if (!head->head_size || head->rung > LEAK_RUNG_PARKED) {
        reader->damaged++;
        return false;
    }
    if (head->occasion >= LEAK_OCCASION_MAX)
        head->occasion = LEAK_OCCASION_NONE;
    if (head->trouble >= LEAK_TROUBLE_MAX)
        head->trouble = LEAK_TROUBLE_NONE;
    return true;
}

static struct store_leak_check *begin_check(struct store *store, const struct leak_snapshot *head)
{
    struct store_leak_check *look = arena_alloc(store->mem, sizeof(*look));

    look->head = *head;
    store->look = look;
    return look;
}

static void read_tables(struct reader *reader, const struct chunk *chunk,
                        struct store_leak_check *look)
{
    struct check_reader tables = {
        .reader = reader,
        .look = look,
        .at = reader->image->data + chunk->payload,
        .length = length_before_hole(reader->image, chunk->payload, chunk->length)};

    read_roots(&tables);
    read_steps(&tables);
    read_samples(&tables);
    read_threads(&tables);
    read_check_modules(&tables);
    read_found(&tables);
    read_orphans(&tables);
    read_ages(&tables);
    read_pointers(&tables);
    read_parts(&tables);
    read_interiors(&tables);
    read_losses(&tables);
}

/* Counts the blocks that are older than libleak in their sites, which have no counts yet because
 * only a leak check finds such blocks. */
static void count_older_sites(struct store *store)
{
    const struct store_leak_check *look = store->look;

    for (size_t i = 0; i < look->found_count; i++) {
        const struct store_found *found = &look->found[i];
        struct store_site *site = &store->sites[found->site];

        if (!store_node_is_older(store, site->node))
            continue;
        site->older = true;
        site->counts.allocs = site->live_blocks = add_saturating(site->live_blocks, found->blocks);
        site->counts.bytes = site->live_bytes = add_saturating(site->live_bytes, found->bytes);
    }
}

/* Says whether `other` was made after `one`, or at the same time. The order of leak checks in the
 * file does not show that, since old ones are overwritten. */
static bool is_later(const struct leak_snapshot *one, const struct leak_snapshot *other)
{
    return other->when_ns >= one->when_ns;
}

void read_leak_check(struct reader *reader, const struct chunks *chunks)
{
    struct store *store = reader->store;
    struct leak_snapshot head, made = {0}, failed = {0};
    const struct chunk *last = NULL;
    bool has_failed;

    for (size_t i = 0; i < chunks->count; i++) {
        if (!read_head(reader, &chunks->chunk[i], &head))
            continue;
        if (head.rung == LEAK_RUNG_NONE) {
            failed = is_later(&failed, &head) ? head : failed;
        } else if (!last || is_later(&made, &head)) {
            made = head;
            last = &chunks->chunk[i];
        }
    }
    has_failed = failed.head_size && (!last || is_later(&made, &failed));
    if (last) {
        read_tables(reader, last, begin_check(store, &made));
        count_older_sites(store);
    }
    if (has_failed && !last)
        begin_check(store, &failed);
    else if (has_failed)
        store->failed = memcpy(arena_alloc(store->mem, sizeof(failed)), &failed, sizeof(failed));
}
