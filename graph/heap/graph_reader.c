/* graph_reader.c - reads the chunks of a graph file, and the items in each chunk; described in
 * graph_reader.h.
 */
#include "graph/heap/graph_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/arena.h"

#define ADDRESS_END (1ull << 48)
#define SITE_MOST (1u << 24) /* limit of the ids of sites, because they index an array */

const char *graph_reader_words(enum graph_error error)
{
    static const char *const words[] = {
#define E(name, text) text,
        GRAPH_ERROR_TABLE(E)
#undef E
    };

    return words[error];
}

/* Says that a block holds another one without a plain pointer. `from` equal to the number of blocks
 * in the graph: a root holds it. */
struct bond {
    uint32_t from, to, at;
};

struct graph_reader {
    struct heap_graph *graph;
    int fd;
    enum graph_error error;
    struct leak_graph_chunk chunk;
    uint32_t version, section; /* version of the file, and section (kind of items) of the chunk */
    uint64_t *payload;
    const uint8_t *at, *end; /* the unread part of the payload */
    uint32_t ordinal;
    /* Values of the item before, which the next item of the section is relative to. */
    uint64_t last_end, last_word, last_pc, last_block_sort;
    uint64_t words[LEAK_GRAPH_SLOTS];
    uint32_t last_range, last_target, last_bond, last_node, last_site, decided;
    uint32_t blocks; /* number of blocks, according to the section INFO */
    size_t block_room, edge_room, first_room, inside_room, root_room, range_room, thread_room,
        frame_room, module_room, node_room, site_room, bond_room, content_room, sample_room;
    /* ids of the nodes in graph->store.nodes, from LEAK_NODE_FIRST on, ascending */
    uint32_t *node_ids;
    struct bond *bonds;
    size_t bond_count;
    /* the items that follow are pointers of the last block, which is not counted yet */
    bool block_open;
    uint64_t edge_at; /* number of the word of the block's last pointer, + 1 */
    bool ended;
};

static bool fail(struct graph_reader *reader, enum graph_error error)
{
    if (!reader->error)
        reader->error = error;
    return false;
}

/* ---- Reading numbers and texts --------------------------------------------------------------- */

static uint64_t next_number(struct graph_reader *reader)
{
    uint64_t number = 0;

    for (unsigned shift = 0; shift < 64 && reader->at < reader->end; shift += 7) {
        uint8_t byte = *reader->at++;

        number |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return number;
    }
    fail(reader, GRAPH_ERROR_DAMAGED);
    return 0;
}

static int64_t next_signed(struct graph_reader *reader)
{
    uint64_t folded = next_number(reader);

    return (int64_t)(folded >> 1 ^ -(folded & 1));
}

/* Reads a number that is stored in 8 bytes. */
static uint64_t next_word(struct graph_reader *reader)
{
    uint64_t word = 0;

    if ((size_t)(reader->end - reader->at) < sizeof(word)) {
        fail(reader, GRAPH_ERROR_DAMAGED);
        return 0;
    }
    memcpy(&word, reader->at, sizeof(word));
    reader->at += sizeof(word);
    return word;
}

/* Reads a number; fails if it is larger than `most`. */
static uint64_t next_below(struct graph_reader *reader, uint64_t most)
{
    uint64_t number = next_number(reader);

    if (number <= most)
        return number;
    fail(reader, GRAPH_ERROR_DAMAGED);
    return 0;
}

/* Reads the number of a block, which is stored as the difference to `last`. */
static uint32_t next_block_number(struct graph_reader *reader, uint32_t last, uint32_t most)
{
    uint64_t number = last + (uint64_t)next_signed(reader);

    if (number <= most)
        return (uint32_t)number;
    fail(reader, GRAPH_ERROR_DAMAGED);
    return 0;
}

static const char *next_text(struct graph_reader *reader, size_t *length)
{
    uint64_t bytes = next_below(reader, LEAK_GRAPH_TEXT_MOST);
    const char *text = (const char *)reader->at;

    if (bytes > (uint64_t)(reader->end - reader->at)) {
        fail(reader, GRAPH_ERROR_DAMAGED);
        bytes = 0;
    }
    reader->at += bytes;
    if (length)
        *length = bytes;
    return arena_copy(reader->graph->store.mem, text, bytes);
}

#define PUSH(array, room, count)                                                                   \
    ((array) = array_grow((array), &(room), (size_t)(count) + 1, sizeof(*(array))),                \
     &(array)[(count)])

/* ---- Reading one item of each section -------------------------------------------------------- */

static void read_info(struct graph_reader *reader)
{
    struct heap_graph *graph = reader->graph;
    struct store *store = &graph->store;

    if (store->exe) {
        fail(reader, GRAPH_ERROR_DAMAGED);
        return;
    }
    graph->flags = (uint32_t)next_number(reader);
    store->header.pid = (int32_t)next_number(reader);
    store->header.start_time = next_number(reader);
    store->header.started_ns = next_number(reader);
    graph->when_ns = next_number(reader);
    store->header.epoch = (uint32_t)next_number(reader);
    graph->occasion = (uint32_t)next_number(reader);
    next_number(reader); /* the milestone, which is not used */
    store->header.machine = (uint32_t)next_number(reader);
    reader->blocks = (uint32_t)next_below(reader, GRAPH_NONE - 2);
    store->exe = next_text(reader, NULL);
    graph->recording = next_text(reader, NULL);
}

static void read_range(struct graph_reader *reader)
{
    struct heap_graph *graph = reader->graph;
    struct graph_range *range = PUSH(graph->range, reader->range_room, graph->ranges);
    uint64_t thread;

    range->root_class = (uint32_t)next_below(reader, UINT8_MAX);
    thread = next_below(reader, GRAPH_NONE - 1);
    range->thread = thread ? (uint32_t)thread - 1 : GRAPH_NONE;
    range->start = reader->last_end + (uint64_t)next_signed(reader);
    range->end = reader->last_end = range->start + next_number(reader);
    range->whole_start = range->start - (uint64_t)next_signed(reader);
    range->whole_end = range->end + (uint64_t)next_signed(reader);
    graph->ranges++;
}

static void read_root(struct graph_reader *reader)
{
    struct heap_graph *graph = reader->graph;
    struct graph_root *root = PUSH(graph->root, reader->root_room, graph->roots);
    uint64_t skipped = next_number(reader), word;

    if (skipped) {
        reader->last_range += (uint32_t)skipped;
        reader->last_word = 0;
    }
    if (skipped > graph->ranges || reader->last_range >= graph->ranges || !reader->blocks) {
        fail(reader, GRAPH_ERROR_DAMAGED);
        return;
    }
    word = next_number(reader);
    reader->last_word += word / 2;
    reader->last_target = next_block_number(reader, reader->last_target, reader->blocks - 1);
    *root = (struct graph_root){.address = ((graph->range[reader->last_range].start + 7) & ~7ull) +
                                           8 * (reader->last_word - 1),
                                .offset = word % 2 ? next_number(reader) : 0,
                                .range = reader->last_range,
                                .to = reader->last_target};
    graph->roots++;
}

static uint64_t read_first_word(struct graph_reader *reader, enum leak_graph_word how,
                                uint32_t site)
{
    uint64_t *last = &reader->words[site % LEAK_GRAPH_SLOTS];

    if (how == LEAK_GRAPH_VALUE)
        *last = next_number(reader);
    return how == LEAK_GRAPH_VALUE || how == LEAK_GRAPH_SAME ? *last : 0;
}

static void read_edge(struct graph_reader *reader, uint64_t word)
{
    struct heap_graph *graph = reader->graph;
    struct graph_edge *edge = PUSH(graph->edge, reader->edge_room, graph->edges);

    reader->edge_at += word / 2;
    edge->to = next_block_number(reader, graph->blocks, reader->blocks - 1);
    edge->at = reader->edge_at <= GRAPH_AT_MOST ? (uint32_t)(reader->edge_at - 1) : GRAPH_AT_MOST;
    if (word % 2)
        *PUSH(graph->inside, reader->inside_room, graph->insides) =
            (struct graph_inside){.edge = graph->edges, .offset = next_number(reader)};
    graph->insides += word % 2;
    graph->edges++;
    if (graph->edges == GRAPH_NONE || reader->edge_at - 1 > graph->block[graph->blocks].size / 8)
        fail(reader, GRAPH_ERROR_DAMAGED);
}

static void read_block_head(struct graph_reader *reader)
{
    struct heap_graph *graph = reader->graph;
    struct graph_block *block, last = {0};
    uint64_t delta = next_number(reader), size = next_number(reader);
    enum leak_graph_word how = size % 4;

    if (graph->blocks == reader->blocks) {
        fail(reader, GRAPH_ERROR_DAMAGED);
        return;
    }
    block = PUSH(graph->block, reader->block_room, graph->blocks);
    *PUSH(graph->first, reader->first_room, graph->blocks) = graph->edges;
    if (graph->blocks)
        last = block[-1];
    if (!delta || delta > ADDRESS_END / 8 || last.address + 8 * delta >= ADDRESS_END ||
        size / 4 > ADDRESS_END - 1 - last.address - 8 * delta) {
        fail(reader, GRAPH_ERROR_DAMAGED);
        return;
    }
    *block =
        (struct graph_block){.address = last.address + 8 * delta,
                             .size = size / 4,
                             .site = (uint32_t)next_below(reader, SITE_MOST),
                             .points = how == LEAK_GRAPH_POINTER,
                             .has_word = !(graph->flags & LEAK_GRAPH_NO_WORDS) && size / 4 >= 8};
    block->tick = last.tick + (uint32_t)next_signed(reader);
    block->count = last.count + (uint32_t)next_signed(reader);
    reader->last_block_sort ^= next_number(reader);
    block->thread = (uint16_t)(reader->last_block_sort >> 8);
    block->kind = (uint8_t)reader->last_block_sort;
    block->word = read_first_word(reader, how, block->site);
    if (graph->flags & LEAK_GRAPH_CONTENT_NUMBERS)
        *PUSH(graph->content, reader->content_room, graph->blocks) = next_word(reader);
    graph->bytes += block->size;
    reader->edge_at = 0;
    reader->block_open = true;
}

/* Reads the head of a block, one of its pointers, or the 0 behind its last pointer. Each is an item
 * of its own, because a chunk may end between them. */
static void read_block(struct graph_reader *reader)
{
    uint64_t word;

    if (!reader->block_open) {
        read_block_head(reader);
        return;
    }
    word = next_number(reader);
    if (word >= 2) {
        read_edge(reader, word);
        return;
    }
    if (word)
        fail(reader, GRAPH_ERROR_DAMAGED);
    reader->block_open = false;
    reader->graph->blocks++;
}

static void read_bond(struct graph_reader *reader)
{
    struct bond *bond = PUSH(reader->bonds, reader->bond_room, reader->bond_count);

    bond->at = next_below(reader, 1) ? GRAPH_AT_AROUND : GRAPH_AT_ENCODED;
    bond->from = reader->last_bond = next_block_number(reader, reader->last_bond, reader->blocks);
    bond->to = next_block_number(reader, bond->from, reader->blocks ? reader->blocks - 1 : 0);
    reader->bond_count++;
    if (bond->to >= reader->graph->blocks)
        fail(reader, GRAPH_ERROR_DAMAGED);
}

static void read_verdicts(struct graph_reader *reader)
{
    struct heap_graph *graph = reader->graph;
    uint64_t count = next_below(reader, graph->blocks - reader->decided);
    uint64_t verdict = next_below(reader, 8 * UINT8_MAX + 7);

    if (verdict % 8 >= LEAK_VERDICT_MAX)
        fail(reader, GRAPH_ERROR_DAMAGED);
    for (; count && reader->error == GRAPH_ERROR_NONE; count--) {
        struct graph_block *block = &graph->block[reader->decided++];

        block->verdict = verdict % 8;
        block->flags = (uint8_t)(verdict / 8);
    }
}

static void read_module(struct graph_reader *reader)
{
    struct store *store = &reader->graph->store;
    struct store_module *module = PUSH(store->modules, reader->module_room, store->module_count);
    size_t length;

    *module = (struct store_module){.start = next_number(reader)};
    module->end = module->start + next_number(reader);
    module->bias = next_number(reader);
    module->build_id = (const uint8_t *)next_text(reader, &length);
    module->build_id_length = length <= LEAK_BUILD_ID_MAX ? length : 0;
    module->path = next_text(reader, NULL);
    module->loaded_ns = store->header.started_ns;
    module->loaded = UINT32_MAX; /* store_find_module() then finds the module for every node; the
                                  * file does not say when it was loaded */
    if (module->end < module->start)
        fail(reader, GRAPH_ERROR_DAMAGED);
    interval_map_add(&store->module_spans, module->start, module->end,
                     (uint32_t)store->module_count);
    store->module_count++;
}

static void read_thread(struct graph_reader *reader)
{
    struct heap_graph *graph = reader->graph;
    struct graph_thread *thread = PUSH(graph->thread, reader->thread_room, graph->threads);

    thread->serial = (uint32_t)next_number(reader);
    thread->tid = (int32_t)next_number(reader);
    thread->name = next_text(reader, NULL);
    thread->block = next_number(reader);
    graph->threads++;
}

static void read_frame(struct graph_reader *reader)
{
    struct heap_graph *graph = reader->graph;
    struct graph_frame *frame = PUSH(graph->frame, reader->frame_room, graph->frames);

    frame->thread = (uint32_t)next_number(reader);
    frame->pc = next_number(reader);
    frame->sp = next_number(reader);
    frame->cfa = frame->sp + next_number(reader);
    graph->frames++;
}

static bool is_id_below(const void *item, const void *key)
{
    return *(const uint32_t *)item < *(const uint32_t *)key;
}

/* Returns the index of a node of the context tree from its id; the id of a root of the tree, which
 * says why a stack ends, is its index. STORE_ROOT_MISSING: unknown. Ids ascend, and a parent is in
 * the file before its children. */
static uint32_t node_index(const struct graph_reader *reader, uint64_t id)
{
    size_t count = reader->graph->store.node_count, known = count ? count - LEAK_NODE_FIRST : 0, at;
    uint32_t key = (uint32_t)id;

    if (id < STORE_ROOT_MISSING)
        return (uint32_t)id;
    if (id > UINT32_MAX)
        return STORE_ROOT_MISSING;
    at = array_lower_bound(reader->node_ids, known, sizeof(key), is_id_below, &key);
    return at < known && reader->node_ids[at] == key ? (uint32_t)at + LEAK_NODE_FIRST
                                                     : STORE_ROOT_MISSING;
}

static void read_node(struct graph_reader *reader)
{
    struct store *store = &reader->graph->store;
    uint64_t id = reader->last_node + next_number(reader);
    struct store_node node = {.parent = node_index(reader, next_number(reader))};
    size_t known, room;

    node.pc = reader->last_pc += (uint64_t)next_signed(reader);
    if (!store->node_count) {
        for (; store->node_count < LEAK_NODE_FIRST; store->node_count++)
            *PUSH(store->nodes, reader->node_room, store->node_count) = (struct store_node){0};
    }
    known = store->node_count - LEAK_NODE_FIRST;
    if (id < LEAK_NODE_FIRST || id > UINT32_MAX || (known && id <= reader->last_node)) {
        fail(reader, GRAPH_ERROR_DAMAGED);
        return;
    }
    room = reader->node_room;
    *PUSH(store->nodes, reader->node_room, store->node_count) = node;
    if (room != reader->node_room || !reader->node_ids) {
        room = 0;
        reader->node_ids =
            array_grow(reader->node_ids, &room, reader->node_room, sizeof(*reader->node_ids));
    }
    reader->node_ids[known] = reader->last_node = (uint32_t)id;
    store->node_count++;
}

static void read_site(struct graph_reader *reader)
{
    struct heap_graph *graph = reader->graph;
    struct store *store = &graph->store;
    struct store_site *site;
    uint64_t id = reader->last_site + next_number(reader);

    if (id <= reader->last_site || id > SITE_MOST) {
        fail(reader, GRAPH_ERROR_DAMAGED);
        return;
    }
    site = PUSH(store->sites, reader->site_room, store->site_count);
    *site = (struct store_site){.id = reader->last_site = (uint32_t)id,
                                .node = node_index(reader, next_number(reader))};
    store->site_count++;
    graph->sites++;
}

static void read_sample(struct graph_reader *reader)
{
    struct heap_graph *graph = reader->graph;
    struct graph_content *sample = PUSH(graph->sample, reader->sample_room, graph->samples);
    size_t length;

    sample->number = next_word(reader);
    sample->bytes = next_text(reader, &length);
    sample->length = (uint32_t)length;
    graph->samples++;
    if (length > LEAK_GRAPH_SAMPLE_MOST || !graph->content)
        fail(reader, GRAPH_ERROR_DAMAGED);
}

static void read_end(struct graph_reader *reader)
{
    struct heap_graph *graph = reader->graph;

    reader->ended = next_number(reader) == graph->blocks && graph->blocks == reader->blocks;
    reader->ended &= next_number(reader) == graph->edges;
    reader->ended &= next_number(reader) == graph->roots;
    reader->ended &= reader->decided == graph->blocks;
    if (!reader->ended)
        fail(reader, GRAPH_ERROR_DAMAGED);
}

/* ---- Reading chunks -------------------------------------------------------------------------- */

static void (*const read_item[])(struct graph_reader *reader) = {
    [LEAK_GRAPH_INFO] = read_info,      [LEAK_GRAPH_RANGES] = read_range,
    [LEAK_GRAPH_ROOTS] = read_root,     [LEAK_GRAPH_BLOCKS] = read_block,
    [LEAK_GRAPH_OTHERS] = read_bond,    [LEAK_GRAPH_VERDICTS] = read_verdicts,
    [LEAK_GRAPH_MODULES] = read_module, [LEAK_GRAPH_THREADS] = read_thread,
    [LEAK_GRAPH_FRAMES] = read_frame,   [LEAK_GRAPH_NODES] = read_node,
    [LEAK_GRAPH_SITES] = read_site,     [LEAK_GRAPH_CONTENT] = read_sample,
    [LEAK_GRAPH_END] = read_end,
};

/* Reads `size` bytes. False: the file ends before, or reading fails. */
static bool read_bytes(struct graph_reader *reader, void *to, size_t size)
{
    char *at = to;

    while (size) {
        ssize_t got = read(reader->fd, at, size);

        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return fail(reader, got < 0 ? GRAPH_ERROR_READ : GRAPH_ERROR_INCOMPLETE);
        at += got;
        size -= (size_t)got;
    }
    return true;
}

/* Returns the section of a chunk. Files of version 1 have no section CONTENT, so the sections from
 * there on have lower numbers. */
static uint32_t section_of(const struct graph_reader *reader, uint32_t type)
{
    return type + (reader->version == 1 && type >= LEAK_GRAPH_CONTENT);
}

static bool read_chunk(struct graph_reader *reader)
{
    struct leak_graph_chunk *chunk = &reader->chunk;
    uint32_t before = reader->section;
    size_t whole;

    if (!read_bytes(reader, chunk, sizeof(*chunk)))
        return false;
    whole = ((size_t)chunk->length + 7) & ~(size_t)7;
    reader->section = section_of(reader, chunk->type);
    if (chunk->magic != LEAK_GRAPH_CHUNK_MAGIC || !chunk->length ||
        chunk->length > LEAK_GRAPH_CHUNK_MOST || chunk->ordinal != reader->ordinal++ ||
        reader->section < before || reader->section < LEAK_GRAPH_INFO ||
        reader->section >= LEAK_GRAPH_SECTION_MAX)
        return fail(reader, GRAPH_ERROR_DAMAGED);
    if (!read_bytes(reader, reader->payload, whole))
        return false;
    if (leak_graph_sum(chunk, reader->payload) != chunk->sum)
        return fail(reader, GRAPH_ERROR_DAMAGED);
    if (reader->block_open && reader->section != LEAK_GRAPH_BLOCKS)
        return fail(reader, GRAPH_ERROR_DAMAGED);
    reader->at = (const uint8_t *)reader->payload;
    reader->end = reader->at + chunk->length;
    return true;
}

static void read_chunks(struct graph_reader *reader)
{
    while (!reader->ended && reader->error == GRAPH_ERROR_NONE && read_chunk(reader))
        while (reader->at < reader->end && reader->error == GRAPH_ERROR_NONE)
            read_item[reader->section](reader);
}

static bool read_head(struct graph_reader *reader)
{
    struct leak_graph_head head = {0};

    if (!read_bytes(reader, &head, sizeof(head))) {
        if (reader->error == GRAPH_ERROR_INCOMPLETE)
            reader->error = GRAPH_ERROR_NOT_A_GRAPH; /* too short to be recognised */
        return false;
    }
    if (head.magic == LEAK_STORE_MAGIC)
        return fail(reader, GRAPH_ERROR_IS_RECORDING);
    if (head.magic != LEAK_GRAPH_MAGIC)
        return fail(reader, GRAPH_ERROR_NOT_A_GRAPH);
    if (!head.version || head.version > LEAK_GRAPH_VERSION || head.head_size != sizeof(head))
        return fail(reader, GRAPH_ERROR_VERSION);
    reader->version = head.version;
    return true;
}

/* ---- Completing the graph after all chunks were read ----------------------------------------- */

/* Replaces the ids of sites in blocks by indices. */
static void number_sites(struct graph_reader *reader)
{
    struct heap_graph *graph = reader->graph;
    uint32_t *index = array_grow(NULL, &(size_t){0}, (size_t)reader->last_site + 1, sizeof(*index));

    memset(index, 0, ((size_t)reader->last_site + 1) * sizeof(*index));
    for (uint32_t i = 0; i < graph->sites; i++)
        index[graph->store.sites[i].id] = i + 1;
    for (uint32_t i = 0; i < graph->blocks; i++) {
        struct graph_block *block = &graph->block[i];

        block->site = block->site <= reader->last_site ? index[block->site] : 0;
    }
    free(index);
}

static void fill_pointers(struct heap_graph *graph)
{
    size_t inside = 0;

    for (uint32_t i = 0; i < graph->blocks; i++) {
        struct graph_block *block = &graph->block[i];
        uint32_t edge = graph->first[i];

        if (!block->points || edge == graph->first[i + 1])
            continue;
        while (inside < graph->insides && graph->inside[inside].edge < edge)
            inside++;
        block->word = graph->block[graph->edge[edge].to].address;
        if (inside < graph->insides && graph->inside[inside].edge == edge)
            block->word += graph->inside[inside].offset;
    }
}

/* Makes an edge of each bond. The edges of a block must be together, its bonds behind its plain
 * pointers, so the list of edges is made anew. */
static void add_bonds(struct graph_reader *reader)
{
    struct heap_graph *graph = reader->graph;
    size_t count = (size_t)graph->edges + reader->bond_count;
    uint32_t *added = array_grow(NULL, &(size_t){0}, (size_t)graph->blocks + 2, sizeof(*added));
    uint32_t made = 0;
    size_t inside = 0, next = 0;
    struct graph_edge *edge;
    struct bond *sorted;

    if (count >= GRAPH_NONE) {
        fail(reader, GRAPH_ERROR_DAMAGED);
        free(added);
        return;
    }
    memset(added, 0, ((size_t)graph->blocks + 2) * sizeof(*added));
    for (size_t i = 0; i < reader->bond_count; i++)
        added[reader->bonds[i].from + 1]++;
    for (uint32_t i = 0; i <= graph->blocks; i++)
        added[i + 1] += added[i];
    sorted = array_grow(NULL, &(size_t){0}, reader->bond_count + 1, sizeof(*sorted));
    for (size_t i = 0; i < reader->bond_count; i++)
        sorted[added[reader->bonds[i].from]++] = reader->bonds[i];
    edge = array_grow(NULL, &(size_t){0}, count + 1, sizeof(*edge));
    for (uint32_t i = 0; i < graph->blocks; i++) {
        uint32_t begin = made;

        for (uint32_t k = graph->first[i]; k < graph->first[i + 1]; k++) {
            if (inside < graph->insides && graph->inside[inside].edge == k)
                graph->inside[inside++].edge = made;
            edge[made++] = graph->edge[k];
        }
        for (; next < reader->bond_count && sorted[next].from == i; next++)
            edge[made++] = (struct graph_edge){.to = sorted[next].to, .at = sorted[next].at};
        graph->first[i] = begin;
    }
    graph->first[graph->blocks] = made;
    for (; next < reader->bond_count; next++) {
        *PUSH(graph->root, reader->root_room, graph->roots) =
            (struct graph_root){.range = GRAPH_NONE, .to = sorted[next].to};
        graph->roots++;
    }
    free(graph->edge);
    free(sorted);
    free(added);
    graph->edge = edge;
    graph->edges = made;
}

static void finish_graph(struct graph_reader *reader)
{
    struct heap_graph *graph = reader->graph;

    *PUSH(graph->first, reader->first_room, graph->blocks) = graph->edges;
    if (!graph->store.node_count) {
        graph->store.nodes = calloc(LEAK_NODE_FIRST, sizeof(*graph->store.nodes));
        graph->store.node_count = graph->store.nodes ? LEAK_NODE_FIRST : 0;
    }
    interval_map_sort(&graph->store.module_spans);
    number_sites(reader);
    fill_pointers(graph);
    if (reader->bond_count)
        add_bonds(reader);
}

enum graph_error graph_reader_open(const char *path, struct heap_graph *graph)
{
    struct graph_reader *reader = array_grow(NULL, &(size_t){0}, 1, sizeof(*reader));
    struct stat info;
    enum graph_error error;
    int saved;

    memset(reader, 0, sizeof(*reader));
    *graph = (struct heap_graph){.store = {.mem = arena_begin(), .path = path, .host = ""}};
    reader->graph = graph;
    reader->payload = array_grow(NULL, &(size_t){0}, LEAK_GRAPH_CHUNK_MOST / 8 + 1, 8);
    reader->fd = open(path, O_RDONLY | O_CLOEXEC);
    if (reader->fd < 0)
        fail(reader, GRAPH_ERROR_OPEN);
    else if (fstat(reader->fd, &info) == 0)
        graph->store.owner = (struct file_owner){info.st_uid, info.st_gid};
    if (reader->error == GRAPH_ERROR_NONE && read_head(reader))
        read_chunks(reader);
    if (reader->error == GRAPH_ERROR_NONE)
        finish_graph(reader);
    error = reader->error;
    saved = errno;
    if (reader->fd >= 0)
        close(reader->fd);
    free(reader->payload);
    free(reader->bonds);
    free(reader->node_ids);
    free(reader);
    if (error)
        heap_graph_end(graph);
    errno = saved;
    return error;
}
