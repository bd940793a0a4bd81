#include "tests/unit/graph/graph_builder.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/arena.h"

#define FIRST_ADDRESS 0x10000
#define SLOT 256 /* bytes between two blocks */
#define ROOT_ADDRESS 0x400000

uint32_t model_random(uint64_t *state, uint32_t most)
{
    *state = *state * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)(*state >> 33) % most;
}

static int by_place(const void *one, const void *other)
{
    const struct model_edge *a = one, *b = other;

    return a->from != b->from ? COMPARE(a->from, b->from) : COMPARE(a->at, b->at);
}

/* Some graphs are sparse, some dense; some blocks have no root. */
void model_make(struct model *model, uint64_t seed, uint32_t blocks_most)
{
    uint64_t state = seed * 0x9e3779b97f4a7c15ull + 1;
    uint32_t wanted;

    memset(model, 0, sizeof(*model));
    model->blocks = 1 + model_random(&state, blocks_most);
    for (uint32_t i = 0; i < model->blocks; i++)
        model->block[i] = (struct model_block){.address = FIRST_ADDRESS + SLOT * (uint64_t)i,
                                               .size = 64 + 8 * model_random(&state, 16),
                                               .word = model_random(&state, 3),
                                               .content = model_random(&state, 8),
                                               .site = 1 + model_random(&state, 4),
                                               .tick = model_random(&state, 9),
                                               .count = model_random(&state, 1000),
                                               .verdict = 1 + model_random(&state, 5),
                                               .thread = (uint16_t)model_random(&state, 3),
                                               .kind = (uint8_t)model_random(&state, 4)};
    wanted =
        model_random(&state, 2 * model->blocks < MODEL_EDGES ? 2 * model->blocks + 1 : MODEL_EDGES);
    for (uint32_t i = 0; i < wanted; i++) {
        struct model_edge edge = {.from = model_random(&state, model->blocks),
                                  .to = model_random(&state, model->blocks),
                                  .at = model_random(&state, 8),
                                  .offset = model_random(&state, 4) ? 0 : model_random(&state, 64)};
        bool taken = edge.from == edge.to;

        for (uint32_t k = 0; k < model->edges; k++)
            taken |= model->edge[k].from == edge.from && model->edge[k].at == edge.at;
        if (!taken)
            model->edge[model->edges++] = edge;
    }
    qsort(model->edge, model->edges, sizeof(*model->edge), by_place);
    for (uint32_t i = 0; i < model->edges; i++)
        if (!model->edge[i].at)
            model->block[model->edge[i].from].word =
                model->block[model->edge[i].to].address + model->edge[i].offset;
    model->roots = model_random(&state, MODEL_ROOTS);
    for (uint32_t i = 0; i < model->roots; i++)
        model->root[i] = (struct model_root){.to = model_random(&state, model->blocks),
                                             .address = ROOT_ADDRESS + 16 * (uint64_t)i};
}

/* ---- Bytes ----------------------------------------------------------------------------------- */

struct encoder {
    struct bytes out;
    uint32_t version;
    size_t head, chunk; /* where the open chunk's head is; the payload's limit */
    uint32_t section, ordinal;
};

static void put(struct encoder *encoder, const void *from, size_t size)
{
    struct bytes *out = &encoder->out;

    out->at = array_grow(out->at, &out->room, out->count + size, 1);
    memcpy(out->at + out->count, from, size);
    out->count += size;
}

static void close_chunk(struct encoder *encoder)
{
    struct leak_graph_chunk chunk = {.magic = LEAK_GRAPH_CHUNK_MAGIC, .type = encoder->section};

    if (!encoder->head)
        return;
    chunk.length = (uint32_t)(encoder->out.count - encoder->head - sizeof(chunk));
    chunk.ordinal = encoder->ordinal;
    if (chunk.length) {
        encoder->ordinal++;
        put(encoder, "\0\0\0\0\0\0\0", -chunk.length & 7u);
        memcpy(encoder->out.at + encoder->head, &chunk, sizeof(chunk));
    } else {
        encoder->out.count = encoder->head;
    }
    encoder->head = 0;
}

static void begin(struct encoder *encoder, uint32_t section)
{
    static const struct leak_graph_chunk none;

    close_chunk(encoder);
    encoder->section = section;
    encoder->head = encoder->out.count;
    put(encoder, &none, sizeof(none));
}

static void item(struct encoder *encoder)
{
    if (encoder->out.count - encoder->head - sizeof(struct leak_graph_chunk) >= encoder->chunk)
        begin(encoder, encoder->section);
}

static void number(struct encoder *encoder, uint64_t value)
{
    do {
        uint8_t byte = (uint8_t)(value & 0x7f) | (value > 0x7f ? 0x80 : 0);

        put(encoder, &byte, 1);
        value >>= 7;
    } while (value);
}

static void folded(struct encoder *encoder, int64_t value)
{
    number(encoder, value < 0 ? ~((uint64_t)value << 1) : (uint64_t)value << 1);
}

static void text(struct encoder *encoder, const char *value)
{
    number(encoder, strlen(value));
    put(encoder, value, strlen(value));
}

static void put_blocks(struct encoder *encoder, const struct model *model)
{
    struct model_block last = {0};
    uint64_t words[LEAK_GRAPH_SLOTS] = {0};

    begin(encoder, LEAK_GRAPH_BLOCKS);
    for (uint32_t i = 0, k = 0; i < model->blocks; i++) {
        const struct model_block *block = &model->block[i];
        bool points = k < model->edges && model->edge[k].from == i && !model->edge[k].at;
        uint64_t *slot = &words[block->site % LEAK_GRAPH_SLOTS];
        unsigned how = points                 ? LEAK_GRAPH_POINTER
                       : !block->word         ? LEAK_GRAPH_ZERO
                       : *slot == block->word ? LEAK_GRAPH_SAME
                                              : LEAK_GRAPH_VALUE;

        item(encoder);
        number(encoder, (block->address - last.address) / 8);
        number(encoder, block->size * 4 + how);
        number(encoder, block->site);
        folded(encoder, (int64_t)block->tick - last.tick);
        folded(encoder, (int64_t)block->count - last.count);
        number(encoder, (block->thread * 256u + block->kind) ^ (last.thread * 256u + last.kind));
        if (how == LEAK_GRAPH_VALUE)
            number(encoder, *slot = block->word);
        if (encoder->version > 1)
            put(encoder, &block->content, sizeof(block->content));
        for (uint32_t at = 0; k < model->edges && model->edge[k].from == i; k++) {
            item(encoder);
            number(encoder, 2 * (model->edge[k].at + 1 - at) + (model->edge[k].offset != 0));
            folded(encoder, (int64_t)model->edge[k].to - i);
            if (model->edge[k].offset)
                number(encoder, model->edge[k].offset);
            at = model->edge[k].at + 1;
        }
        item(encoder);
        number(encoder, 0);
        last = *block;
    }
}

static void put_rest(struct encoder *encoder, const struct model *model)
{
    begin(encoder, LEAK_GRAPH_VERDICTS);
    for (uint32_t i = 0; i < model->blocks; i++) {
        item(encoder);
        number(encoder, 1);
        number(encoder, model->block[i].verdict);
    }
    begin(encoder, LEAK_GRAPH_MODULES);
    number(encoder, 0x5000);
    number(encoder, 0x1000);
    number(encoder, 0x5000);
    text(encoder, "0123456789abcdefghij");
    text(encoder, "/nowhere/prog");
    begin(encoder, LEAK_GRAPH_THREADS);
    number(encoder, 1);
    number(encoder, 42);
    text(encoder, "main");
    number(encoder, 0x7000);
    begin(encoder, LEAK_GRAPH_FRAMES);
    number(encoder, 0);
    number(encoder, 0x5123);
    number(encoder, 0x6000);
    number(encoder, 0x40);
    begin(encoder, LEAK_GRAPH_NODES);
    for (uint32_t i = 0; i < 4; i++) {
        number(encoder, i ? 3 : LEAK_NODE_FIRST);
        number(encoder, i ? LEAK_NODE_FIRST + 3 * (i - 1) : 1);
        folded(encoder, i ? 0x10 : 0x5100);
    }
    begin(encoder, LEAK_GRAPH_SITES);
    for (uint32_t i = 0; i < 4; i++) {
        number(encoder, 1);
        number(encoder, LEAK_NODE_FIRST + 3 * i);
    }
    if (encoder->version > 1) {
        begin(encoder, LEAK_GRAPH_CONTENT);
        put(encoder, &(uint64_t){7}, 8);
        text(encoder, MODEL_SAMPLE);
    }
    begin(encoder, encoder->version > 1 ? LEAK_GRAPH_END : LEAK_GRAPH_END - 1);
    number(encoder, model->blocks);
    number(encoder, model->edges);
    number(encoder, model->roots);
    close_chunk(encoder);
}

struct bytes model_file(const struct model *model, size_t chunk, uint32_t version)
{
    struct encoder encoder = {.chunk = chunk, .version = version};
    const struct leak_graph_head head = {LEAK_GRAPH_MAGIC, version, sizeof(head)};
    uint64_t at = 0;
    uint32_t target = 0;

    put(&encoder, &head, sizeof(head));
    begin(&encoder, LEAK_GRAPH_INFO);
    for (unsigned i = 0; i < 9; i++)
        number(&encoder, i ? i : version > 1 ? LEAK_GRAPH_CONTENT_NUMBERS : 0);
    number(&encoder, model->blocks);
    text(&encoder, "/nowhere/prog");
    text(&encoder, "/nowhere/prog.1.leak");
    begin(&encoder, LEAK_GRAPH_RANGES);
    number(&encoder, 1);
    number(&encoder, 0);
    folded(&encoder, ROOT_ADDRESS);
    number(&encoder, 0x1000);
    folded(&encoder, 0);
    folded(&encoder, 0);
    begin(&encoder, LEAK_GRAPH_ROOTS);
    for (uint32_t i = 0; i < model->roots; i++) {
        uint64_t word = (model->root[i].address - ROOT_ADDRESS) / 8 + 1;

        item(&encoder);
        number(&encoder, 0);
        number(&encoder, 2 * (word - at));
        folded(&encoder, (int64_t)model->root[i].to - target);
        at = word;
        target = model->root[i].to;
    }
    put_blocks(&encoder, model);
    put_rest(&encoder, model);
    bytes_sign(&encoder.out);
    return encoder.out;
}

void bytes_sign(struct bytes *bytes)
{
    size_t at = sizeof(struct leak_graph_head);
    struct leak_graph_chunk chunk;

    while (at + sizeof(chunk) <= bytes->count) {
        size_t whole;
        uint64_t *payload;

        memcpy(&chunk, bytes->at + at, sizeof(chunk));
        whole = ((size_t)chunk.length + 7) & ~(size_t)7;
        if (whole > bytes->count - at - sizeof(chunk))
            return;
        payload = calloc(1, whole + 8);
        ck_assert_ptr_nonnull(payload);
        memcpy(payload, bytes->at + at + sizeof(chunk), whole);
        chunk.sum = leak_graph_sum(&chunk, payload);
        free(payload);
        memcpy(bytes->at + at, &chunk, sizeof(chunk));
        at += sizeof(chunk) + whole;
    }
}

void bytes_write(const struct bytes *bytes, const char *path)
{
    FILE *file = fopen(path, "w");

    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite(bytes->at, 1, bytes->count, file), bytes->count);
    ck_assert_int_eq(fclose(file), 0);
}

/* ---- In memory ------------------------------------------------------------------------------- */

void model_graph(const struct model *model, struct heap_graph *graph)
{
    *graph = (struct heap_graph){.blocks = model->blocks,
                                 .edges = model->edges,
                                 .roots = model->roots,
                                 .sites = 4,
                                 .store.mem = arena_begin()};
    graph->block = calloc(model->blocks + 1, sizeof(*graph->block));
    graph->first = calloc(model->blocks + 2, sizeof(*graph->first));
    graph->edge = calloc(model->edges + 1, sizeof(*graph->edge));
    graph->root = calloc(model->roots + 1, sizeof(*graph->root));
    graph->content = calloc(model->blocks + 1, sizeof(*graph->content));
    for (uint32_t i = 0; i < model->blocks; i++) {
        graph->block[i] = (struct graph_block){.address = model->block[i].address,
                                               .size = model->block[i].size,
                                               .site = model->block[i].site,
                                               .verdict = model->block[i].verdict & 15};
        graph->bytes += model->block[i].size;
        graph->content[i] = model->block[i].content;
    }
    for (uint32_t i = 0; i < model->edges; i++) {
        graph->edge[i] = (struct graph_edge){.to = model->edge[i].to, .at = model->edge[i].at};
        graph->first[model->edge[i].from + 1]++;
    }
    for (uint32_t i = 0; i < model->blocks; i++)
        graph->first[i + 1] += graph->first[i];
    for (uint32_t i = 0; i < model->roots; i++)
        graph->root[i] =
            (struct graph_root){.to = model->root[i].to, .address = model->root[i].address};
}
