/* graph_builder.h - graph files made by a test: random models, and their bytes. The encoder is written
 * from docs/GRAPH.md, and shares nothing with the runtime's. */
#ifndef TESTS_GRAPH_BUILDER_H
#define TESTS_GRAPH_BUILDER_H

#include "leak_graph_file.h"
#include "graph/heap/heap_graph.h"

#define MODEL_BLOCKS 24
#define MODEL_EDGES 64
#define MODEL_ROOTS 8

struct model {
    uint32_t blocks, edges, roots;
    struct model_block {
        uint64_t address, size, word, content;
        uint32_t site, tick, count, verdict;
        uint16_t thread;
        uint8_t kind;
    } block[MODEL_BLOCKS];
    struct model_edge { /* ascending by from, then by at */
        uint32_t from, to, at;
        uint64_t offset;
    } edge[MODEL_EDGES];
    struct model_root {
        uint32_t to;
        uint64_t address;
    } root[MODEL_ROOTS];
};

/* The next number of a seed; below `most` and not 0 `most`: 0 … most - 1. */
uint32_t model_random(uint64_t *state, uint32_t most);
/* A graph of up to so many blocks. */
void model_make(struct model *model, uint64_t seed, uint32_t blocks_most);

struct bytes {
    uint8_t *at;
    size_t count, room;
};

#define MODEL_SAMPLE "seven!!"

/* The graph file of a model; the caller frees at. chunk: bytes of a payload after which a new one
 * begins. version: 1 has no contents; a later one a sample of content 7. */
struct bytes model_file(const struct model *model, size_t chunk, uint32_t version);
/* Makes the checksums of all chunks right again. */
void bytes_sign(struct bytes *bytes);
/* Writes them to a file of that name. */
void bytes_write(const struct bytes *bytes, const char *path);

/* The model as a graph in memory, without a file. */
void model_graph(const struct model *model, struct heap_graph *graph);

#endif
