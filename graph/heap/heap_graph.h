/* heap_graph.h - holds the heap of one leak check as a graph in memory: blocks are nodes, numbered
 * by address; pointers are edges; root words, outside of the heap, point to blocks.
 *
 *     out(node)  edge[first[node] .. first[node + 1])     ascending by word
 *     in(node)   from[in_first[node] .. in_first[node + 1])   one for each edge, if linked
 *
 * All numbers come from the file, and the reader has checked them: every target is a node,
 * addresses ascend, no block reaches beyond 2^48.
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
    /* the first word of the block, if has_word is set; if `points` is set, the first edge is this
     * word */
    uint64_t word;
    uint32_t site; /* index of the allocation site; 0: unknown */
    uint32_t count, tick;
    uint16_t thread;
    uint8_t kind;
};

/* Special values of graph_edge.at; other values are the number of the word, from 0 within the
 * block, that has the pointer. */
#define GRAPH_AT_MOST (UINT32_MAX - 2)    /* the number of the word is this one or a larger one */
#define GRAPH_AT_ENCODED (UINT32_MAX - 1) /* the pointer is encoded, and its word is unknown */
#define GRAPH_AT_AROUND UINT32_MAX /* there is no pointer: the block lies inside of the target */
struct graph_edge {
    uint32_t to, at;
};

/* Says that the pointer of an edge points behind the start of its target. */
struct graph_inside {
    uint32_t edge;
    uint64_t offset;
};

struct graph_root {
    /* address of the root word; 0: the pointer is encoded, and its word is unknown */
    uint64_t address;
    uint64_t offset; /* distance from the start of the block to where the word points */
    uint32_t range;  /* index of the memory range of the root word; GRAPH_NONE: unknown */
    uint32_t to;
};

struct graph_range {
    uint64_t start, end, whole_start, whole_end;
    uint32_t root_class; /* enum leak_root_class, or 0: unknown */
    uint32_t thread;     /* index of the thread; GRAPH_NONE: the range belongs to no thread */
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

/* The first bytes of a content that several blocks have in common. */
struct graph_content {
    uint64_t number;
    const char *bytes;
    uint32_t length;
};

struct heap_graph {
    /* has program, modules and stacks, in the form that leakreport's functions take */
    struct store store;
    struct graph_block *block;
    struct graph_edge *edge;
    uint32_t *first;             /* number of a block -> index of its first edge; has blocks + 1
                                  * entries */
    struct graph_inside *inside; /* the pointers behind the start of a block, sorted by edge */
    uint32_t *in_first, *from;   /* NULL before heap_graph_link() was called */
    /* number of a block -> number of its content (enum leak_graph_content); NULL: contents are
     * unknown */
    uint64_t *content;
    struct graph_content *sample;
    struct graph_root *root;
    struct graph_range *range;
    struct graph_thread *thread;
    struct graph_frame *frame;
    uint32_t blocks, edges, roots, ranges, threads, frames, samples;
    size_t insides;
    uint32_t sites; /* number of sites; site 1 <= s <= sites is store.sites[s - 1] */
    uint64_t bytes; /* sum of the sizes of all blocks */
    uint64_t when_ns;
    uint32_t occasion, flags; /* values of enum leak_occasion, and flags of enum leak_graph_flag */
    const char *recording;    /* path that the recording file of the process had when the graph file
                               * was written */
};

void heap_graph_end(struct heap_graph *graph);

/* Removes private data: the contents of blocks, and the directories of files. */
void heap_graph_anonymize(struct heap_graph *graph);

/* Lists for each block the blocks that point to it. Does nothing if the graph is linked already. */
void heap_graph_link(struct heap_graph *graph);

/* Finds the block that contains the address, or the block that ends there if no block contains it;
 * GRAPH_NONE: there is none. */
uint32_t heap_graph_find(const struct heap_graph *graph, uint64_t address);

/* Returns the distance from the start of the edge's target to where the pointer points. */
uint64_t heap_graph_edge_offset(const struct heap_graph *graph, uint32_t edge);

/* Returns the root word with the lowest address that points to the block; GRAPH_NONE: there is
 * none. */
uint32_t heap_graph_root_of(const struct heap_graph *graph, uint32_t block);

/* Says whether the verdict means that no root leads to the block. */
static inline bool graph_block_is_lost(const struct graph_block *block)
{
    return block->verdict == LEAK_VERDICT_LOST || block->verdict == LEAK_VERDICT_INDIRECT;
}

/* Visits the starts: blocks from which all other blocks can be reached. The order is: targets of
 * root words, by the address of the word; blocks that are held by an unknown word; lost blocks that
 * no other block owns; at last every block that is still not reached. A block that is already
 * reached is not visited. reached: belongs to the caller, one entry for each block; before visit()
 * returns, it must mark all blocks that it reaches from the visited block. */
void heap_graph_each_start(const struct heap_graph *graph, const bool *reached,
                           void (*visit)(void *context, uint32_t block), void *context);

#endif
