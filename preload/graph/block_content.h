/* block_content.h - the contents of blocks as numbers, equal where the contents are, and samples of those
 * contents that most bytes of the heap have. For graph files.
 *
 * A number is made with a secret of this check: nobody can find out a content by trying which one has the
 * number, nor choose contents with equal numbers.
 *
 * Samples: a content with more than one in SETS * WAYS bytes of the heap has one (chance may take it where sets are crowded). Each set of slots keeps
 * the contents with most bytes: a new content takes over the slot with the fewest, and its bytes, so that the
 * smallest of WAYS + 1 contents is the one to go.
 */
#ifndef PRELOAD_GRAPH_BLOCK_CONTENT_H
#define PRELOAD_GRAPH_BLOCK_CONTENT_H

#include "preload/base/base.h"

#define BLOCK_CONTENT_SETS 2048
#define BLOCK_CONTENT_WAYS 8

struct block_content {
    uint64_t secret;
    struct content_slot {
        uint64_t number; /* 0: the slot is free */
        uint64_t bytes;  /* of the blocks, and of those that had the slot before */
        uintptr_t address;
        uint64_t size;
        uint64_t copies;
    } slot[BLOCK_CONTENT_SETS][BLOCK_CONTENT_WAYS];
};

/* The structure is zero; it is large. */
void block_content_start(struct block_content *content);

/* The number of a block's content (enum leak_graph_content), 0 of an empty block. It counts towards the samples. */
uint64_t block_content_add(struct block_content *content, uintptr_t address, uint64_t size);

/* Visits contents that several blocks have; address: of one of these. */
void block_content_each_sample(const struct block_content *content,
                               void (*visit)(void *context, const struct content_slot *slot),
                               void *context);

#endif
