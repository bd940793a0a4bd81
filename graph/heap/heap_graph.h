/* heap_graph.h - the heap of one leak check as a graph in memory: blocks are nodes, numbered by
 * address; pointers are edges; root words point to blocks from outside.
 *
 *     out(node)  edge[first[node] .. first[node + 1])     ascending by word
 *     in(node)   from[in_first[node] .. in_first[node + 1])   one for each edge, when linked
 *
 * All numbers come from the file and are checked by the reader: every target is a node, addresses
 * ascend, no block reaches beyond 2^48.
 */
#ifndef GRAPH_HEAP_GRAPH_H
#define GRAPH_HEAP_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/store/store.h"
#include "leak_graph_file.h"
#include "leak_store.h"

#define GRAPH_NONE UINT32_MAX

struct graph_block {
    uint64_t address;
    uint64_t size : 48, verdict : 4, flags : 8, has_word : 1, points : 1;
    uint64_t word; /* the first one, if it has_word; points: the first edge is that word */
    uint32_t site; /* index of sites; 0: unknown */
    uint32_t count, tick;
    uint16_t thread;
    uint8_t kind;
};

/* The field `at` of an edge is the number of the word within the block, or one of these. */
#define GRAPH_AT_MOST (UINT32_MAX - 2)    /* that or a later one */
#define GRAPH_AT_ENCODED (UINT32_MAX - 1) /* an encoded pointer, somewhere */
#define GRAPH_AT_AROUND UINT32_MAX        /* none: the block lies inside the target */
struct graph_edge {
    uint32_t to, at;
};

/* The pointer of an edge points behind the start of its target. */
struct graph_inside {
    uint32_t edge;
    uint64_t offset;
};

struct graph_root {
    uint64_t address; /* of the word; 0: an encoded pointer, somewhere */
    uint64_t offset;  /* how far behind the start it points */
    uint32_t range;   /* GRAPH_NONE: unknown */
    uint32_t to;
};

struct graph_range {
    uint64_t start, end, whole_start, whole_end;
    uint32_t root_class; /* enum leak_root_class, or 0 */
    uint32_t thread;     /* index, or GRAPH_NONE */
};

struct graph_thread {
    const char *name;
    uint64_t block;
    uint32_t serial;
    int32_t tid;
};

struct graph_frame {
    uint64_t pc, sp, cfa;
    uint32_t thread;
};

/* The first bytes of a content that several blocks have. */
struct graph_content {
    uint64_t number;
    const char *bytes;
    uint32_t length;
};

struct heap_graph {
    struct store store; /* program, modules and stacks, as leakreport's functions want them */
    struct graph_block *block;
    struct graph_edge *edge;
    uint32_t *first;             /* blocks + 1 */
    struct graph_inside *inside; /* ascending by edge */
    uint32_t *in_first, *from;   /* NULL until heap_graph_link */
    uint64_t *
        content; /* by block: the number of its content (enum leak_graph_content); NULL: not known */
    struct graph_content *sample;
    struct graph_root *root;
    struct graph_range *range;
    struct graph_thread *thread;
    struct graph_frame *frame;
    uint32_t blocks, edges, roots, ranges, threads, frames, samples;
    size_t insides;
    uint32_t sites; /* store.sites[site - 1], 1 <= site <= sites */
    uint64_t bytes; /* of all blocks */
    uint64_t when_ns;
    uint32_t occasion, flags; /* enum leak_occasion, enum leak_graph_flag */
    const char *recording;    /* the path it had */
};

void heap_graph_end(struct heap_graph *graph);

/* Removes what answers are not to show: contents of blocks, and the directories of files. */
void heap_graph_anonymize(struct heap_graph *graph);

/* Lists for each block the blocks that point to it; once. */
void heap_graph_link(struct heap_graph *graph);

/* The block that contains the address, or ends there if none begins there; GRAPH_NONE. */
uint32_t heap_graph_find(const struct heap_graph *graph, uint64_t address);

/* How far behind the start of its target the edge points. */
uint64_t heap_graph_edge_offset(const struct heap_graph *graph, uint32_t edge);

/* The first root word, by address, that points to the block; or GRAPH_NONE. */
uint32_t heap_graph_root_of(const struct heap_graph *graph, uint32_t block);

/* Whether the verdict means that nothing holds the block. */
static inline bool graph_block_is_lost(const struct graph_block *block)
{
    return block->verdict == LEAK_VERDICT_LOST || block->verdict == LEAK_VERDICT_INDIRECT;
}

/* Visits what the program holds from outside, each block once, in this order: targets of root words
 * by address of the word; blocks that are held without a word that is known; lost blocks that no
 * other one owns; at last every block that none of those leads to. Each of the four finds what the
 * ones before have not reached. reached: by block, of the caller, who marks what it reaches from a
 * visited block before it returns. */
void heap_graph_each_start(const struct heap_graph *graph, const bool *reached,
                           void (*visit)(void *context, uint32_t block), void *context);

#endif
