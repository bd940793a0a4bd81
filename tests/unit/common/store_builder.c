/* store_builder.c - see store_builder.h. */
#include "tests/unit/common/store_builder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static size_t grow(struct store_builder *builder, size_t pages)
{
    size_t at = builder->size;

    builder->size += pages * LEAK_PAGE;
    builder->data = realloc(builder->data, builder->size);
    memset(builder->data + at, 0, pages * LEAK_PAGE);
    builder_header(builder)->used = builder->size;
    builder_header(builder)->file_size = builder->size;
    return at;
}

struct store_builder builder_begin(void)
{
    struct store_builder builder = {.next_node = LEAK_NODE_FIRST, .next_site = 1, .next_freed = 1};
    struct leak_header *header;

    grow(&builder, 1);
    header = builder_header(&builder);
    header->magic = LEAK_STORE_MAGIC;
    header->version = LEAK_STORE_VERSION;
    header->header_size = sizeof(*header);
    header->pid = 42;
    header->ppid = 41;
    header->started_ns = 1700000000ull * 1000000000;
    header->ended_ns = header->started_ns + 10000000000ull;
    header->epoch = 80;
    header->end_how = LEAK_END_EXIT;
    strcpy(header->host, "testhost");
    return builder;
}

void builder_end(struct store_builder *builder)
{
    free(builder->data);
    builder->data = NULL;
}

struct leak_header *builder_header(struct store_builder *builder)
{
    return (struct leak_header *)builder->data;
}

size_t builder_chunk(struct store_builder *builder, uint32_t type, uint64_t first, size_t payload)
{
    size_t pages = (sizeof(struct leak_chunk) + payload + LEAK_PAGE - 1) / LEAK_PAGE;
    size_t at = grow(builder, pages);
    struct leak_chunk *chunk = (struct leak_chunk *)(builder->data + at);

    *chunk = (struct leak_chunk){.magic = LEAK_CHUNK_MAGIC,
                                 .type = type,
                                 .offset = at,
                                 .size = pages * LEAK_PAGE,
                                 .first = first};
    return at;
}

static void *payload_of(struct store_builder *builder, size_t chunk)
{
    return builder->data + chunk + sizeof(struct leak_chunk);
}

/* Append to a packed chunk. */
static void pack(struct store_builder *builder, size_t at, const void *bytes, size_t length)
{
    struct leak_chunk *chunk = (struct leak_chunk *)(builder->data + at);

    memcpy((uint8_t *)payload_of(builder, at) + chunk->length, bytes, length);
    chunk->length += length;
}

void builder_process(struct store_builder *builder, const char *exe, const char *cwd, int argc,
                     const char *const *argv)
{
    struct leak_process process = {.exe_length = (uint32_t)strlen(exe),
                                   .cwd_length = (uint32_t)strlen(cwd),
                                   .argc = (uint32_t)argc};
    size_t at, total = sizeof(process) + process.exe_length + process.cwd_length + 2;

    for (int i = 0; i < argc; i++)
        process.argv_length += (uint32_t)strlen(argv[i]) + 1;
    at = builder_chunk(builder, LEAK_CHUNK_PROCESS, 0, total + process.argv_length);
    pack(builder, at, &process, sizeof(process));
    pack(builder, at, exe, strlen(exe) + 1);
    pack(builder, at, cwd, strlen(cwd) + 1);
    for (int i = 0; i < argc; i++)
        pack(builder, at, argv[i], strlen(argv[i]) + 1);
}

/* For free(). */
static struct leak_module *make_module(const char *path, uint64_t start, uint64_t end,
                                       uint64_t bias, uint32_t loaded, uint32_t unloaded,
                                       const char *build_id)
{
    const size_t fixed = offsetof(struct leak_module, path);
    size_t length = (fixed + strlen(path) + 1 + 7) & ~(size_t)7;
    struct leak_module *module = calloc(1, length + sizeof(*module));

    *module = (struct leak_module){.length = (uint32_t)length,
                                   .build_id_length = (uint32_t)strlen(build_id),
                                   .start = start,
                                   .end = end,
                                   .bias = bias,
                                   .loaded = loaded,
                                   .unloaded = unloaded,
                                   .path_length = (uint32_t)strlen(path)};
    memcpy(module->build_id, build_id, strlen(build_id));
    memcpy((char *)module + fixed, path, strlen(path));
    return module;
}

void builder_module(struct store_builder *builder, const char *path, uint64_t start, uint64_t end,
                    uint64_t bias, uint32_t loaded, uint32_t unloaded, const char *build_id)
{
    struct leak_module *module = make_module(path, start, end, bias, loaded, unloaded, build_id);

    if (!builder->modules)
        builder->modules = builder_chunk(builder, LEAK_CHUNK_MODULES, 0, 1);
    pack(builder, builder->modules, module, module->length);
    free(module);
}

void builder_code(struct store_builder *builder, size_t at, const struct leak_code *code)
{
    pack(builder, at, code, code->length);
}

static void *next_record(struct store_builder *builder, uint32_t type, size_t *chunk,
                         uint32_t *count, uint64_t first, size_t size)
{
    if (!*chunk || (*count + 1) * size > LEAK_PAGE - sizeof(struct leak_chunk)) {
        *chunk = builder_chunk(builder, type, first, 1);
        *count = 0;
    }
    return (uint8_t *)payload_of(builder, *chunk) + size * (*count)++;
}

void builder_thread(struct store_builder *builder, uint32_t serial, const char *name)
{
    uint32_t count = builder->next_serial;
    struct leak_thread *thread =
        next_record(builder, LEAK_CHUNK_THREADS, &builder->threads, &count, 0, sizeof(*thread));

    builder->next_serial = count;
    thread->serial = serial;
    thread->tid = (int32_t)(100 + serial);
    strncpy(thread->name, name, sizeof(thread->name) - 1);
}

uint32_t builder_node(struct store_builder *builder, uint64_t pc, uint32_t parent, uint32_t number)
{
    struct leak_node *node = next_record(builder, LEAK_CHUNK_NODES, &builder->nodes,
                                         &builder->node_count, builder->next_node, sizeof(*node));

    /* Above the bits that are a reader's stands something. */
    *node = (struct leak_node){.pc = pc | 0xa55aull << LEAK_PC_BITS,
                               .parent = parent | 0x2au << LEAK_NODE_BITS,
                               .number = number};
    return builder->next_node++;
}

uint32_t builder_site(struct store_builder *builder, uint32_t node, uint32_t kind,
                      struct leak_counts counts)
{
    struct leak_site *site = next_record(builder, LEAK_CHUNK_SITES, &builder->sites,
                                         &builder->site_count, builder->next_site, sizeof(*site));

    *site =
        (struct leak_site){.node = node, .kind = kind, .first = 8, .last = 16, .counts = counts};
    return builder->next_site++;
}

struct leak_site *builder_site_at(struct store_builder *builder, uint32_t id)
{
    struct leak_chunk *chunk = (struct leak_chunk *)(builder->data + builder->sites);

    return (struct leak_site *)payload_of(builder, builder->sites) + (id - chunk->first);
}

void builder_temporary(struct store_builder *builder, uint32_t first, size_t count,
                       const struct leak_temporary *temporary)
{
    size_t at = builder_chunk(builder, LEAK_CHUNK_TEMPORARY, first, count * sizeof(*temporary));

    pack(builder, at, temporary, count * sizeof(*temporary));
}

void builder_variances(struct store_builder *builder, uint32_t first, size_t count,
                       const struct leak_variance *variances)
{
    size_t at = builder_chunk(builder, LEAK_CHUNK_VARIANCES, first, count * sizeof(*variances));

    pack(builder, at, variances, count * sizeof(*variances));
}

struct leak_slots *builder_slots_at(struct store_builder *builder)
{
    return payload_of(builder, builder->slots);
}

void builder_slots(struct store_builder *builder, uint32_t thread)
{
    struct leak_slots *slots;

    builder->slots = builder_chunk(builder, LEAK_CHUNK_SLOTS, 0, 1);
    slots = payload_of(builder, builder->slots);
    slots->thread = thread;
    slots->count = (LEAK_PAGE - sizeof(struct leak_chunk) - sizeof(*slots)) / sizeof(*slots->slot);
    builder->slot_count = 0;
}

void builder_slot(struct store_builder *builder, uint32_t site, struct leak_counts counts)
{
    struct leak_slots *slots = payload_of(builder, builder->slots);

    slots->slot[builder->slot_count++] =
        (struct leak_slot){.site = site, .last = 24, .counts = counts};
}

void builder_fold(struct store_builder *builder, struct leak_counts sum)
{
    struct leak_slots *slots = payload_of(builder, builder->slots);

    slots->fold_slot = builder->slot_count - 1;
    slots->fold_site = slots->slot[slots->fold_slot].site;
    slots->fold = sum;
}

void builder_freed(struct store_builder *builder, uint32_t site, uint32_t node, uint64_t blocks,
                   uint64_t bytes)
{
    struct leak_freed *freed =
        next_record(builder, LEAK_CHUNK_FREED, &builder->freed, &builder->freed_count,
                    builder->next_freed, sizeof(*freed));

    *freed = (struct leak_freed){.site = site, .node = node, .blocks = blocks, .bytes = bytes};
    builder->next_freed++;
}

void builder_recent(struct store_builder *builder, uint32_t thread)
{
    struct leak_recent *ring;

    builder->recent = builder_chunk(builder, LEAK_CHUNK_RECENT, 0, sizeof(*ring));
    ring = payload_of(builder, builder->recent);
    ring->thread = ring->last_thread = thread;
}

void builder_recent_free(struct store_builder *builder, uint64_t address, uint64_t pc,
                         uint32_t node, uint32_t site, uint32_t tick)
{
    struct leak_recent *ring = payload_of(builder, builder->recent);

    ring->free[ring->next++ % LEAK_RECENT] = (struct leak_recent_free){
        .address = address, .pc = pc, .node = node, .site = site, .tick = tick};
    ring->captures += node != 0;
}

static struct leak_tags *tags_of(struct store_builder *builder)
{
    if (!builder->tags)
        builder->tags = builder_chunk(builder, LEAK_CHUNK_TAGS, 0, sizeof(struct leak_tags));
    return payload_of(builder, builder->tags);
}

void builder_tag(struct store_builder *builder, unsigned tag, const char *name, uint32_t length)
{
    struct leak_tag *record = &tags_of(builder)->tag[tag - 1];

    record->length = length ? length : (uint32_t)strlen(name);
    strncpy(record->name, name, LEAK_TAG_NAME);
}

void builder_tags_left_out(struct store_builder *builder, uint64_t pushes)
{
    tags_of(builder)->left_out = pushes;
}

static struct leak_events *events_of(struct store_builder *builder)
{
    if (!builder->events)
        builder->events = builder_chunk(builder, LEAK_CHUNK_EVENTS, 0, sizeof(struct leak_events));
    return payload_of(builder, builder->events);
}

void builder_event(struct store_builder *builder, const struct leak_event *event)
{
    struct leak_events *events = events_of(builder);

    events->event[builder->event_count++] = *event;
}

void builder_events_left_out(struct store_builder *builder, uint64_t calls)
{
    events_of(builder)->left_out = calls;
}

void builder_options(struct store_builder *builder, const char *text)
{
    size_t at = builder_chunk(builder, LEAK_CHUNK_OPTIONS, 0, strlen(text));

    pack(builder, at, text, strlen(text));
}

void builder_suppressions(struct store_builder *builder, const char *where, const char *text)
{
    size_t length = strlen(where) + 1;
    size_t at = builder_chunk(builder, LEAK_CHUNK_SUPPRESSIONS, 0, length + strlen(text));

    pack(builder, at, where, length);
    pack(builder, at, text, strlen(text));
}

/* ---- Crashes -------------------------------------------------------------------------------- */

struct leak_crash *builder_crash_at(struct store_builder *builder, size_t chunk)
{
    return payload_of(builder, chunk);
}

size_t builder_crash(struct store_builder *builder, const struct leak_crash *crash,
                     const char *module, uint64_t start, uint64_t end)
{
    size_t path = module ? strlen(module) : 0;
    struct leak_module record = {.start = start, .end = end, .bias = start, .path_length = path};
    size_t length = module ? (sizeof(record) + path + 1 + 7) / 8 * 8 : 0;
    size_t chunk = builder_chunk(builder, LEAK_CHUNK_CRASH, 0, sizeof(*crash) + length);
    struct leak_crash *there = payload_of(builder, chunk);

    record.length = (uint32_t)length;
    *there = *crash;
    there->head_size = sizeof(*crash);
    there->modules = (struct leak_table){sizeof(*crash), (uint32_t)length};
    if (module) {
        memcpy(there + 1, &record, sizeof(record));
        memcpy((char *)(there + 1) + offsetof(struct leak_module, path), module, path);
    }
    ((struct leak_chunk *)there - 1)->length = sizeof(*crash) + length;
    return chunk;
}

void builder_resources(struct store_builder *builder, const struct leak_resource *resources,
                       size_t count)
{
    size_t at =
        builder_chunk(builder, LEAK_CHUNK_RESOURCES, 0, count * sizeof(struct leak_resource));

    pack(builder, at, resources, count * sizeof(struct leak_resource));
}

/* ---- Looks ---------------------------------------------------------------------------------- */

struct leak_snapshot *builder_look_at(struct store_builder *builder, size_t chunk)
{
    return payload_of(builder, chunk);
}

static struct leak_table pack_table(struct store_builder *builder, size_t at, const void *records,
                                    size_t count, size_t size)
{
    uint64_t length = ((struct leak_chunk *)(builder->data + at))->length;

    if (count)
        pack(builder, at, records, count * size);
    return (struct leak_table){(uint32_t)length, (uint32_t)count};
}

size_t builder_look(struct store_builder *builder, const struct builder_look *look)
{
    struct leak_module *module =
        make_module(look->module ? look->module : "", look->start, look->end, look->bias, 0, 0, "");
    struct leak_snapshot head = look->head;
    size_t at = builder_chunk(
        builder, LEAK_CHUNK_SNAPSHOT, 0,
        sizeof(head) + look->found_count * sizeof(*look->found) +
            look->root_count * sizeof(*look->roots) + look->step_count * sizeof(*look->steps) +
            look->sample_count * sizeof(*look->samples) +
            look->thread_count * sizeof(*look->threads) + look->pc_count * sizeof(*look->pcs) +
            module->length + look->content_count + look->orphan_count * sizeof(*look->orphans) +
            look->part_count * sizeof(*look->parts) +
            look->pointer_count * sizeof(*look->pointers));

#define TABLE(name, count) pack_table(builder, at, look->name, look->count, sizeof(*look->name))
    pack(builder, at, &head, sizeof(head));
    head.head_size = sizeof(head);
    head.found = TABLE(found, found_count);
    head.roots = TABLE(roots, root_count);
    head.steps = TABLE(steps, step_count);
    head.samples = TABLE(samples, sample_count);
    head.threads = TABLE(threads, thread_count);
    head.pcs = TABLE(pcs, pc_count);
    head.modules = pack_table(builder, at, module, look->module ? module->length : 0, 1);
    head.contents = TABLE(contents, content_count);
    head.orphans = TABLE(orphans, orphan_count);
    head.parts = TABLE(parts, part_count);
    head.pointers = TABLE(pointers, pointer_count);
    head.interiors = TABLE(interiors, interior_count);
    head.losses = TABLE(losses, loss_count);
#undef TABLE
    memcpy(payload_of(builder, at), &head, sizeof(head));
    free(module);
    return at;
}

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

/* Of site 1: two blocks lost, two below them, one possible, one reachable in two steps from a
 * global; of site 3 one on a stack. What else lives came later. */
static size_t add_example_look(struct store_builder *builder)
{
    static const struct leak_found found[] = {
        {.site = 1,
         .verdict = LEAK_VERDICT_LOST,
         .flags = LEAK_FOUND_CYCLE,
         .first = 8,
         .last = 9,
         .sample = {0, 2},
         .blocks = 2,
         .bytes = 200,
         .retained_blocks = 4,
         .retained_bytes = 400},
        {.site = 1,
         .verdict = LEAK_VERDICT_INDIRECT,
         .flags = LEAK_FOUND_SHARED,
         .owner = 1,
         .blocks = 2,
         .bytes = 200},
        {.site = 1,
         .verdict = LEAK_VERDICT_POSSIBLE,
         .flags = LEAK_FOUND_TAGGED,
         .blocks = 1,
         .bytes = 100},
        {.site = 1,
         .verdict = LEAK_VERDICT_REACHABLE,
         .root = 1,
         .path = {0, 2},
         .blocks = 1,
         .bytes = 100,
         .retained_blocks = 1,
         .retained_bytes = 100},
        {.site = 3,
         .verdict = LEAK_VERDICT_REACHABLE,
         .root = 2,
         .path = {2, 1},
         .blocks = 1,
         .bytes = 64,
         .sample = {2, 1}},
    };
    static const struct leak_held roots[] = {
        {.address = 0x8010,
         .start = 0x8000,
         .size = 0x1000,
         .root_class = LEAK_ROOT_CLASS_GLOBALS,
         .blocks = 2,
         .bytes = 164},
        {.address = 0x7ff0,
         .pc = 0x1180,
         .cfa = 0x8000,
         .thread = 2,
         .root_class = LEAK_ROOT_CLASS_STACKS,
         .blocks = 1,
         .bytes = 64},
        {.address = 0x50, .start = 0x40, .thread = 3, .key = 6, .root_class = LEAK_ROOT_CLASS_TLS},
        {.address = 0x50, .thread = 3, .tls_offset = -16, .root_class = LEAK_ROOT_CLASS_TLS},
        {.thread = 1, .root_class = LEAK_ROOT_CLASS_REGISTERS},
        {.address = 0x60, .start = 0x60, .root_class = LEAK_ROOT_CLASS_USER},
        {.address = 0xf0010, .start = 0xf0000, .root_class = LEAK_ROOT_CLASS_ANON},
    };
    static const struct leak_step steps[] = {
        {0, 64, 3, 0}, {0x18, 100, 1, 8}, {0, 64, 3, 0}, {0, 1, 99, 0}};
    static const struct leak_sample samples[] = {
        {.address = 0xa010, .size = 100, .count = 7, .thread = 2, .tick = 9, .content = {0, 8}},
        {.address = 0xa110, .size = 90, .count = 8, .thread = 2, .tick = 9, .content = {8, 8}},
        {.address = 0xa210, .size = 64, .count = 1, .thread = 9, .tick = 10},
    };
    static const uint8_t contents[] = {'h',  'e',  '"', 'l', '\\', 'l',  'o', '\n',
                                       0x10, 0xa1, 0,   0,   0x55, 0x55, 0,   0};
    static const struct leak_seen_thread threads[] = {
        {.serial = 1, .tid = 101, .taker = 1, .name = "app"},
        {.serial = 2, .tid = 102, .parked = 1, .stack = {0, 2}, .name = "worker"},
        {.serial = 0, .tid = 103}};
    static const uint64_t pcs[] = {0x1300, 0x1100, 0};
    static const struct leak_orphan orphans[] = {
        {.site = 1, .holder = 3, .node = LEAK_NODE_FIRST + 1, .blocks = 2},
        {.site = 1, .holder = 1, .node = LEAK_NODE_FIRST, .blocks = 1}};
    static const struct leak_part parts[] = {{1, 1, 2, 164}, {2, 3, 1, 64}};
    static const struct leak_pointer pointers[] = {
        {.address = 0x8010, .root = 1},
        {.address = 0xa118, .offset = 8, .block = 0xa110, .size = 100, .site = 1}};
    static const struct leak_interior interiors[] = {
        {.found = 2, .holder = 3, .offset = 9, .blocks = 1}};
    static const struct leak_loss losses[] = {
        {.site = 1,
         .first = {.after_ns = 1700000005000000000, .by_ns = 1700000006000000000},
         .last = {.after_ns = 1700000008000000000, .by_ns = 1700000009000000000}}};

    return builder_look(builder, &(struct builder_look){.head = {.rung = LEAK_RUNG_PARKED,
                                                                 .occasion = LEAK_OCCASION_EARLY,
                                                                 .when_ns = 1700000009000000000,
                                                                 .tick = 12,
                                                                 .sites = 5,
                                                                 .asked = {.address = 0xa310,
                                                                           .block = 0xa310,
                                                                           .size = 100,
                                                                           .site = 1,
                                                                           .found = 4,
                                                                           .count = 3,
                                                                           .thread = 1},
                                                                 .pause_ns = 310000,
                                                                 .check_ns = 1200000,
                                                                 .threads_parked = 1,
                                                                 .threads_missed = 1},
                                                        .found = found,
                                                        .found_count = COUNT(found),
                                                        .roots = roots,
                                                        .root_count = COUNT(roots),
                                                        .steps = steps,
                                                        .step_count = COUNT(steps),
                                                        .samples = samples,
                                                        .sample_count = COUNT(samples),
                                                        .contents = contents,
                                                        .content_count = COUNT(contents),
                                                        .orphans = orphans,
                                                        .orphan_count = COUNT(orphans),
                                                        .parts = parts,
                                                        .part_count = COUNT(parts),
                                                        .pointers = pointers,
                                                        .pointer_count = COUNT(pointers),
                                                        .interiors = interiors,
                                                        .interior_count = COUNT(interiors),
                                                        .losses = losses,
                                                        .loss_count = COUNT(losses),
                                                        .threads = threads,
                                                        .thread_count = COUNT(threads),
                                                        .pcs = pcs,
                                                        .pc_count = COUNT(pcs),
                                                        .module = "/opt/app",
                                                        .start = 0x8000,
                                                        .end = 0x9000});
}

struct store_builder builder_example(void)
{
    static const char *const argv[] = {"./app", "--fast", "caf\xc3\xa9"};
    struct store_builder builder = builder_begin();
    uint32_t main_node, node, free_node, site;

    builder_process(&builder, "/opt/app", "/opt", 3, argv);
    builder_module(&builder, "/opt/app", 0x1000, 0x9000, 0, 1, 0, "\x11\x22\x33\x44");
    builder_module(&builder, "/lib/libc.so.6", 0x10000, 0x20000, 0x10000, 1, 0, "\x55\x66");
    builder_thread(&builder, 1, "app");
    builder_thread(&builder, 2, "worker");
    builder_thread(&builder, 3, "");
    main_node = builder_node(&builder, 0x1100, LEAK_ROOT_COMPLETE, 0);
    node = builder_node(&builder, 0x1200, main_node, 0);
    site = builder_site(&builder, node, LEAK_KIND_MALLOC, (struct leak_counts){10, 1000, 4, 400});
    builder_node(&builder, LEAK_KIND_MALLOC, node, site); /* a leaf, as the runtime keeps it */
    builder_site_at(&builder, site)->tag = 2;
    builder_tag(&builder, 1, "mesh", 0);
    builder_tag(&builder, 2, "texture", 0);
    builder_site(&builder, builder_node(&builder, 0x1300, LEAK_ROOT_DEPTH, 0), LEAK_KIND_NEW,
                 (struct leak_counts){5, 50, 5, 50});
    builder_site(&builder, builder_node(&builder, 0x12000, main_node, 0), LEAK_KIND_NEW_ARRAY,
                 (struct leak_counts){0, 0, 0, 0});
    builder_site(&builder, LEAK_ROOT_NO_RULE, LEAK_KIND_MEMALIGN, (struct leak_counts){2, 9, 1, 1});
    builder_site(&builder, builder_node(&builder, 0x7000000, main_node, 0), LEAK_KIND_MALLOC,
                 (struct leak_counts){1, 1, 0, 0});
    builder_variances(&builder, 1, 2, (struct leak_variance[]){{4, 300, 200, 0}, {1, 2, 3, 0}});
    builder_slots(&builder, 2);
    builder_slot(&builder, site, (struct leak_counts){3, 300, 1, 100});
    builder_slots(&builder, 3);
    builder_slot(&builder, 3, (struct leak_counts){1, 64, 0, 0});
    builder_fold(&builder, (struct leak_counts){1, 64, 0, 0}); /* the slot is in already */
    builder_options(&builder, "free_stacks=all (LIBLEAK_OPTIONS)\n");
    free_node = builder_node(&builder, 0x1400, main_node, 0);
    builder_node(&builder, LEAK_PC_FREE, free_node, 0); /* a leaf, as the runtime keeps it */
    builder_freed(&builder, site, free_node, 4, 400);
    builder_freed(&builder, site, node, 1, 100); /* by realloc: it allocates there, too */
    builder_freed(&builder, 2, LEAK_ROOT_BROKEN, 5, 50);
    builder_recent(&builder, 2);
    builder_recent_free(&builder, 0xa000, 0x1400, free_node, site, 20);
    builder_recent_free(&builder, 0xb000, 0x1410, 0, site, 22);
    builder_recent(&builder, 3);
    builder_recent_free(&builder, 0xa000, 0x7000001, 0, 2, 21);
    builder_event(&builder, &(struct leak_event){.type = LEAK_EVENT_MISMATCHED_FREE,
                                                 .form = LEAK_FORM_DELETE,
                                                 .block_thread = 2,
                                                 .block_count = 7,
                                                 .site = site,
                                                 .address = 0xa000,
                                                 .size = 100,
                                                 .node = free_node,
                                                 .thread = 2,
                                                 .tick = 20,
                                                 .count = 3});
    builder_event(&builder, &(struct leak_event){.type = LEAK_EVENT_DOUBLE_FREE,
                                                 .form = LEAK_FORM_FREE,
                                                 .site = 2,
                                                 .address = 0xb000,
                                                 .pc = 0x1500,
                                                 .thread = 3,
                                                 .tick = 23,
                                                 .count = 1,
                                                 .freed_pc = 0x1410,
                                                 .freed_thread = 2,
                                                 .freed_tick = 22,
                                                 .freed_form = LEAK_FORM_DELETE});
    return builder;
}

/* ---- History -------------------------------------------------------------------------------- */

static size_t rows_chunk(struct store_builder *builder, size_t history, unsigned i)
{
    size_t first = history + ((struct leak_chunk *)(builder->data + history))->size;
    struct leak_chunk *chunk = (struct leak_chunk *)(builder->data + first);

    return first + i / LEAK_ROWS_A_CHUNK * chunk->size;
}

struct leak_history *builder_history_at(struct store_builder *builder, size_t chunk)
{
    return payload_of(builder, chunk);
}

struct leak_row *builder_row_at(struct store_builder *builder, size_t chunk, unsigned i)
{
    return (struct leak_row *)payload_of(builder, rows_chunk(builder, chunk, i)) +
           i % LEAK_ROWS_A_CHUNK;
}

/* Newer ones stand before older ones, as they do once places are used again. */
size_t builder_history(struct store_builder *builder, uint32_t site, unsigned seconds,
                       uint64_t rate)
{
    size_t at = builder_chunk(builder, LEAK_CHUNK_HISTORY, 0, sizeof(struct leak_history));
    struct leak_history *history;

    for (unsigned i = 0; i < seconds; i += LEAK_ROWS_A_CHUNK)
        builder_chunk(builder, LEAK_CHUNK_ROWS, 0, LEAK_ROWS_A_CHUNK * sizeof(struct leak_row));
    history = builder_history_at(builder, at);
    history->column[3] = (struct leak_column){.site = site, .peak = seconds * rate};
    for (unsigned i = 0; i < seconds; i++) {
        uint32_t time = seconds - i; /* in seconds */
        struct leak_row *row = builder_row_at(builder, at, i);

        history->point[i] = (struct leak_point){.tick = time * LEAK_TICKS_PER_SECOND + 1,
                                                .live_bytes = time * rate,
                                                .live_blocks = time};
        row->tick = time * LEAK_TICKS_PER_SECOND + 1;
        row->at[3] = (struct leak_row_entry){.allocs = time, .live_bytes = time * rate};
    }
    history->peak[1] =
        (struct leak_peak){.number = 1,
                           .tick = seconds * LEAK_TICKS_PER_SECOND,
                           .count = 1,
                           .bytes = seconds * rate,
                           .blocks = seconds,
                           .site = {{.site = site, .bytes = seconds * rate, .blocks = seconds}}};
    builder_header(builder)->epoch = seconds * LEAK_TICKS_PER_SECOND;
    return at;
}

struct store_builder builder_looked(void)
{
    struct store_builder builder = builder_example();

    builder.look = add_example_look(&builder);
    return builder;
}

char *builder_save(const struct store_builder *builder)
{
    char *path = strdup("/tmp/libleak-test-XXXXXX");
    int fd = mkstemp(path);
    FILE *stream = fdopen(fd, "w");

    if (!stream || fwrite(builder->data, 1, builder->size, stream) != builder->size)
        abort();
    fclose(stream);
    return path;
}

struct store_image store_image_borrow(const uint8_t *data, size_t size, struct extent *extent)
{
    *extent = (struct extent){0, size};
    return (struct store_image){
        .data = data, .size = size, .extents = extent, .extent_count = 1, .steady = true};
}
