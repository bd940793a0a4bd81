/* block_content.h - for graph files: one number for the content of each block, and samples of
 * contents that several blocks have. Blocks with equal contents have equal numbers.
 *
 * A secret of this leak check goes into each number, so that a reader of the graph file cannot find
 * out a content by trying which one has the number, and a program cannot prepare contents with
 * equal numbers.
 *
 * A content whose blocks make up more than 1 / (SETS * WAYS) of the bytes of the heap normally has
 * a sample; it may have none where many such contents fall into one set of slots. Each set keeps
 * the contents with most bytes: a new content takes the slot of the content with the fewest, and
 * inherits the count of its bytes.
 */
#ifndef PRELOAD_GRAPH_BLOCK_CONTENT_H
#define PRELOAD_GRAPH_BLOCK_CONTENT_H

#include "preload/base/base.h"

#define BLOCK_CONTENT_SETS 2048
#define BLOCK_CONTENT_WAYS 8

struct block_content {
    uint64_t secret;
    struct content_slot {
        uint64_t number; /* number of the content; 0: the slot is free */
        /* Bytes of the blocks with this content, plus the count of the content that had the slot
         * before. */
        uint64_t bytes;
        uintptr_t address;
        uint64_t size;
        uint64_t copies;
    } slot[BLOCK_CONTENT_SETS][BLOCK_CONTENT_WAYS];
};

/* Makes the secret that goes into the numbers of contents. The caller passes a structure whose
 * bytes are all zero. */
void block_content_start(struct block_content *content);

/* Returns the number of a block's content (enum leak_graph_content), 0 for an empty block, and
 * counts the block in the samples. */
uint64_t block_content_add(struct block_content *content, uintptr_t address, uint64_t size);

/* Visits each sample of a content that several blocks have; slot->address is the address of one of
 * these blocks. */
void block_content_each_sample(const struct block_content *content,
                               void (*visit)(void *context, const struct content_slot *slot),
                               void *context);

#endif
