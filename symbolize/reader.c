/* reader.c - believes nothing and keeps what holds; see reader.h.
 *
 * Order: header, then one pass over the chunks (packed ones are read at once, arrays are noted as
 * runs), then nodes and sites by ascending id, then every thread's slots are added to their sites:
 * the equation of leak_store.h.
 */
#include "symbolize/reader.h"

#include <stdlib.h>
#include <string.h>

#include "symbolize/chunks.h"

struct reading {
    const struct image *image;
    struct store *store;
    struct runs nodes, sites, threads, variances;
    size_t module_capacity;
    size_t damaged; /* records left out */
};

/* ---- Header and packed chunks ----------------------------------------------------------- */

static bool read_header(const struct image *image, struct store *store, struct trouble *trouble)
{
    struct leak_header *header = &store->header;
    uint64_t magic = 0;

    *trouble = (struct trouble){.code = ERROR_SHORT, .number = image->size};
    if (image->size < sizeof(magic))
        return false;
    memcpy(&magic, image->data, sizeof(magic));
    if (magic != LEAK_STORE_MAGIC) {
        trouble->code = magic ? ERROR_NOT_A_STORE : ERROR_UNFINISHED;
        return false;
    }
    memcpy(header, image->data, image->size < sizeof(*header) ? image->size : sizeof(*header));
    if (image->size >= offsetof(struct leak_header, header_size) &&
        header->version != LEAK_STORE_VERSION) {
        *trouble = (struct trouble){.code = ERROR_VERSION, .number = header->version};
        return false;
    }
    if (image->size < sizeof(*header))
        return false;
    if (header->header_size != sizeof(*header)) {
        *trouble = (struct trouble){.code = ERROR_HEADER, .number = header->header_size};
        return false;
    }
    store->host = mem_copy(store->mem, header->host, strnlen(header->host, sizeof(header->host)));
    return true;
}

/* A text of `length` bytes and its NUL at *at, or NULL; moves *at behind it. */
static const char *take_text(struct store *store, const uint8_t **at, const uint8_t *end,
                             size_t length)
{
    const char *text;

    if ((size_t)(end - *at) <= length || (*at)[length] != 0)
        return NULL;
    text = mem_copy(store->mem, (const char *)*at, length);
    *at += length + 1;
    return text;
}

static void read_process(struct reading *reading, const uint8_t *at, size_t length)
{
    struct store *store = reading->store;
    const uint8_t *end = at + length;
    struct leak_process process;
    size_t room;

    if (length < sizeof(process) || store->argv) {
        reading->damaged++;
        return;
    }
    memcpy(&process, at, sizeof(process));
    at += sizeof(process);
    store->exe = take_text(store, &at, end, process.exe_length);
    if (store->exe)
        store->cwd = take_text(store, &at, end, process.cwd_length);
    if (!store->cwd) {
        reading->damaged++;
        return;
    }
    room = (size_t)(end - at);
    if (room > process.argv_length)
        room = process.argv_length;
    end = at + room;
    store->argv =
        mem_take_array(store->mem, (process.argc < room ? process.argc : room) + 1, sizeof(char *));
    while (at < end && store->argc < process.argc) {
        const char *text =
            take_text(store, &at, end, strnlen((const char *)at, (size_t)(end - at)));

        if (!text) {
            reading->damaged++;
            return;
        }
        store->argv[store->argc++] = text;
    }
}

static bool module_holds(const struct leak_module *module, size_t rest)
{
    const size_t fixed = offsetof(struct leak_module, path);

    return module->length % 8 == 0 && module->length > fixed && module->length <= rest &&
           module->path_length < module->length - fixed &&
           module->build_id_length <= LEAK_BUILD_ID_MAX && module->start <= module->end;
}

static void read_modules(struct reading *reading, const uint8_t *at, size_t length)
{
    struct store *store = reading->store;
    const size_t fixed = offsetof(struct leak_module, path);

    while (length >= fixed) {
        struct leak_module module;
        struct store_module *made;

        memcpy(&module, at, fixed);
        if (!module_holds(&module, length)) {
            reading->damaged++;
            return; /* without a length there is no way to the next one */
        }
        store->modules = mem_more(store->modules, &reading->module_capacity,
                                  store->module_count + 1, sizeof(*store->modules));
        made = &store->modules[store->module_count++];
        *made = (struct store_module){
            .path = mem_copy(store->mem, (const char *)at + fixed,
                             strnlen((const char *)at + fixed, module.path_length)),
            .build_id = (const uint8_t *)mem_copy(store->mem, (const char *)module.build_id,
                                                  module.build_id_length),
            .build_id_length = module.build_id_length,
            .start = module.start,
            .end = module.end,
            .bias = module.bias,
            .loaded_ns = module.loaded_ns,
            .unloaded_ns = module.unloaded_ns,
            .loaded = module.loaded,
            .unloaded = module.unloaded};
        at += module.length;
        length -= module.length;
    }
}

static void index_modules(struct store *store)
{
    struct store_module *grown = store->modules;

    if (!grown)
        return;
    store->modules = mem_take_array(store->mem, store->module_count, sizeof(*grown));
    memcpy(store->modules, grown, store->module_count * sizeof(*grown));
    free(grown);
    for (size_t i = 0; i < store->module_count; i++)
        spans_add(&store->module_spans, store->modules[i].start, store->modules[i].end,
                  (uint32_t)i);
    spans_sort(&store->module_spans);
}

/* ---- Arrays ------------------------------------------------------------------------------ */

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
                .name = mem_copy(store->mem, thread.name, strnlen(thread.name, LEAK_THREAD_NAME))};
        }
    if (store->thread_count)
        qsort(store->threads, store->thread_count, sizeof(*store->threads), by_serial);
    for (size_t i = 0; i < store->thread_count; i++) /* a serial twice: the first one counts */
        if (!kept || store->threads[kept - 1].serial != store->threads[i].serial)
            store->threads[kept++] = store->threads[i];
    store->thread_count = kept;
}

static uint32_t checked_parent(struct reading *reading, uint32_t id, size_t own)
{
    size_t index;

    if (id < LEAK_NODE_FIRST)
        return id == LEAK_ROOT_NONE || id > LEAK_ROOT_NO_STACKS ? STORE_ROOT_MISSING : id;
    index = runs_find(&reading->nodes, id);
    if (index != SIZE_MAX && index < own)
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
            made->pc = node.pc;
            made->number = node.number;
            made->parent = checked_parent(reading, node.parent, run->base + k);
        }
    }
}

static struct store_site checked_site(struct reading *reading, const struct leak_site *site,
                                      uint32_t id)
{
    const struct leak_header *header = &reading->store->header;
    struct store_site made = {.id = id,
                              .kind = site->kind,
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
    made.node = checked_parent(reading, site->node, reading->store->node_count);
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

/* ---- The equation ------------------------------------------------------------------------ */

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

/* The published site of that id, or NULL. */
static struct store_site *find_site(struct reading *reading, uint32_t id)
{
    size_t index = runs_find(&reading->sites, id);

    if (index != SIZE_MAX && reading->store->sites[index].id)
        return &reading->store->sites[index];
    reading->damaged++;
    return NULL;
}

static void add_slot(struct reading *reading, uint32_t thread, const struct leak_slot *slot,
                     bool folded)
{
    struct store_site *site = find_site(reading, slot->site);

    if (!site)
        return;
    if (slot->last > site->last)
        site->last = slot->last;
    if (slot->counts.allocs)
        add_thread(site, thread);
    if (folded)
        return; /* died before it was cleared: these counts are in already */
    site->counts.allocs += slot->counts.allocs;
    site->counts.bytes += slot->counts.bytes;
    site->counts.frees += slot->counts.frees;
    site->counts.freed_bytes += slot->counts.freed_bytes;
}

static bool slots_header(const struct reading *reading, const struct chunk *chunk,
                         struct leak_slots *slots)
{
    if (chunk->end - chunk->payload < sizeof(*slots))
        return false;
    memcpy(slots, reading->image->data + chunk->payload, sizeof(*slots));
    return slots->thread != 0;
}

/* Died inside a fold: the sum beside the slots stands for the site. Before any slot is added. */
static void read_fold(struct reading *reading, const struct chunk *chunk)
{
    struct leak_slots slots;
    struct store_site *site;

    if (slots_header(reading, chunk, &slots) && slots.fold_site &&
        (site = find_site(reading, slots.fold_site)))
        site->counts = slots.fold;
}

static void read_slots(struct reading *reading, const struct chunk *chunk)
{
    struct leak_slots slots;
    struct runs runs = {0};

    if (!slots_header(reading, chunk, &slots))
        return;
    runs_add(&runs, reading->image, chunk, sizeof(slots), sizeof(struct leak_slot), slots.count);
    for (size_t i = 0, index = 0; i < runs.count; i++)
        for (size_t k = 0; k < runs.run[i].count; k++, index++) {
            struct leak_slot slot;
            bool folded;

            memcpy(&slot, runs.run[i].at + k * sizeof(slot), sizeof(slot));
            folded = slot.site == slots.fold_site && index == slots.fold_slot;
            if (slot.site)
                add_slot(reading, slots.thread, &slot, folded);
        }
    runs_end(&runs);
}

/* Words that are sums of differences: one that is "negative" was caught between two. */
static uint64_t at_rest(uint64_t sum)
{
    return sum >> 63 ? 0 : sum;
}

static void read_variances(struct reading *reading)
{
    size_t total;

    if (!reading->store->header.sample)
        return; /* then nothing is an estimate, whatever stands there */
    reading->damaged += runs_index(&reading->variances, 0, &total);
    for (size_t i = 0; i < reading->variances.count; i++) {
        const struct run *run = &reading->variances.run[i];

        for (size_t k = 0; k < run->count; k++) {
            struct leak_variance variance;
            size_t index;

            memcpy(&variance, run->at + k * sizeof(variance), sizeof(variance));
            index = variance.samples ? runs_find(&reading->sites, run->first + k) : SIZE_MAX;
            if (index == SIZE_MAX)
                continue;
            reading->store->sites[index].variance =
                (struct leak_variance){.samples = at_rest(variance.samples),
                                       .blocks = at_rest(variance.blocks),
                                       .bytes = at_rest(variance.bytes)};
        }
    }
}

/* Leave out what was never published, and say what lives. A free may be seen before its
 * allocation when the process runs: then nothing lives. */
static void settle_sites(struct store *store)
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

/* ---- All of it --------------------------------------------------------------------------- */

static void read_packed(struct reading *reading, const struct chunk *chunk)
{
    const uint8_t *at = reading->image->data + chunk->payload;

    if (chunk->type == LEAK_CHUNK_PROCESS)
        read_process(reading, at, chunk->length);
    else if (chunk->type == LEAK_CHUNK_MODULES)
        read_modules(reading, at, chunk->length);
    else if (chunk->type == LEAK_CHUNK_OPTIONS)
        reading->store->options = mem_copy(reading->store->mem, (const char *)at, chunk->length);
}

static void add_array(struct reading *reading, struct runs *runs, const struct chunk *chunk,
                      size_t size)
{
    runs_add(runs, reading->image, chunk, 0, size,
             chunk->length ? chunk->length / size : UINT64_MAX);
}

static void note_array(struct reading *reading, const struct chunk *chunk)
{
    if (chunk->type == LEAK_CHUNK_THREADS)
        add_array(reading, &reading->threads, chunk, sizeof(struct leak_thread));
    else if (chunk->type == LEAK_CHUNK_NODES)
        add_array(reading, &reading->nodes, chunk, sizeof(struct leak_node));
    else if (chunk->type == LEAK_CHUNK_SITES)
        add_array(reading, &reading->sites, chunk, sizeof(struct leak_site));
    else if (chunk->type == LEAK_CHUNK_VARIANCES)
        add_array(reading, &reading->variances, chunk, sizeof(struct leak_variance));
}

static void note_oddities(struct reading *reading, size_t skipped)
{
    struct store *store = reading->store;
    const struct image *image = reading->image;

    if (store->header.used > image->size)
        store_note(store, "the store is cut off: %llu of %llu bytes are there",
                   (unsigned long long)image->size, (unsigned long long)store->header.used);
    if (reading->damaged && store->header.end_how == LEAK_END_NONE)
        store_note(store, "%zu records were still being written and were left out",
                   reading->damaged);
    else if (reading->damaged)
        store_note(store, "the store is damaged: %zu records do not hold and were left out",
                   reading->damaged);
    if (skipped)
        store_note(store, "the store is damaged: %zu pages belong to no valid part", skipped);
    if (!image->steady)
        store_note(store, "the process kept changing the store while it was read: "
                          "numbers may be off by what it allocated meanwhile");
}

static void read_chunks(struct reading *reading, const struct chunks *chunks)
{
    for (size_t i = 0; i < chunks->count; i++) {
        read_packed(reading, &chunks->chunk[i]);
        note_array(reading, &chunks->chunk[i]);
    }
    index_modules(reading->store);
    read_threads(reading);
    read_nodes(reading);
    read_sites(reading);
    for (size_t i = 0; i < chunks->count; i++)
        if (chunks->chunk[i].type == LEAK_CHUNK_SLOTS)
            read_fold(reading, &chunks->chunk[i]);
    for (size_t i = 0; i < chunks->count; i++)
        if (chunks->chunk[i].type == LEAK_CHUNK_SLOTS)
            read_slots(reading, &chunks->chunk[i]);
    read_variances(reading);
    settle_sites(reading->store);
}

bool reader_parse(struct mem *mem, const struct image *image, struct store *store,
                  struct trouble *trouble)
{
    struct reading reading = {.image = image, .store = store};
    struct chunks chunks;

    *store = (struct store){.mem = mem};
    if (!read_header(image, store, trouble))
        return false;
    chunks = chunks_find(image, store->header.used);
    read_chunks(&reading, &chunks);
    note_oddities(&reading, chunks.skipped);
    chunks_end(&chunks);
    runs_end(&reading.nodes);
    runs_end(&reading.sites);
    runs_end(&reading.threads);
    runs_end(&reading.variances);
    return true;
}

bool reader_open(struct mem *mem, const char *path, struct store *store, struct trouble *trouble)
{
    struct image image;
    bool good;

    if (!image_load(path, &image, trouble))
        return false;
    good = reader_parse(mem, &image, store, trouble);
    store->path = path;
    image_end(&image);
    return good;
}
