/* dominators.h - what can be reached only through one block.
 *
 * A block dominates those to which every way from the roots leads through it. Ways count by every
 * pointer, also one to a block's inside: what stands in doubt keeps alive. The dominators form a
 * tree, and what a block retains is the sum over its subtree.
 */
#ifndef PRELOAD_MARK_DOMINATORS_H
#define PRELOAD_MARK_DOMINATORS_H

#include "preload/mark/mark_nodes.h"

struct dominated {
    uint32_t *place;  /* of a node in the rows below; 0: it is not held */
    uint32_t *blocks; /* itself included */
    uint64_t *bytes;
};

/* False when there is no memory. */
bool dominate(struct dominated *dominated, struct reach *reach);
void dominate_end(struct dominated *dominated, struct reach *reach);

#endif
