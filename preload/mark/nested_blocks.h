/* nested_blocks.h - treats nested blocks in a leak check: blocks that a program's own allocator
 * carves from larger ones.
 *
 * The outer block (an arena) has the words that belong to no nested block, and its node begins at
 * the first of these words. So no two nodes begin at the same address:
 *
 *     malloc   |=====================================|
 *     nested   |xxxxx|   |xxxxx||xxxxx|
 *     node            ^ the arena's node, with the words between the nested blocks
 *
 * A pointer to a nested block refers to that block, a pointer to memory between nested blocks to
 * the arena. An arena lives as long as one of its nested blocks: a reachable block makes its outer
 * block reachable. Root ranges are cut around nested blocks in the same way. */
#ifndef PRELOAD_MARK_NESTED_BLOCKS_H
#define PRELOAD_MARK_NESTED_BLOCKS_H

#include "preload/heap/suballoc.h"
#include "preload/mark/mark_nodes.h"

/* Moves the start of a block to an address where no nested block begins. pool: the pool of a nested
 * block, SUBALLOC_ANY_POOL for a block of malloc. False: no such address was found, and the block
 * gets no node. */
bool nested_blocks_trim(struct block *block, uint32_t pool);

/* Records the start and the size that a block had before nested_blocks_trim moved its start. Called
 * before the rank index is built. */
void nested_blocks_note_trimmed(struct reach *reach, const struct block *block, uintptr_t began,
                                uint64_t size);
/* Finds the outer block of each nested one. Called after the rank index is built. False: there is
 * no memory. */
bool nested_blocks_find_outer(struct reach *reach);

/* An iterator over the pieces of [start, end) that no nested block covers; start moves behind each
 * piece. The caller sets start, end and within; all other members are 0 at first. within: a nested
 * block in which start lies is not cut out. */
struct nested_blocks_cut {
    uintptr_t start, end;
    bool within, begun;
    uint32_t next;
};
bool nested_blocks_next_range(const struct reach *reach, struct nested_blocks_cut *cut,
                              uintptr_t *piece_start, uintptr_t *piece_end);

/* Returns the start and the size of a node's block as its allocator returned it. */
void nested_blocks_original(const struct reach *reach, uint32_t node, uintptr_t *start,
                            uint64_t *size);

#endif
