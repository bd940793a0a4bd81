/* nested_blocks.h - blocks in blocks: what a look makes of those that the program's own allocators
 * carve.
 *
 * A block that such blocks lie in (an arena) has what is left: its words are those between them,
 * and it begins, as a node, where the first of these is. So no two nodes begin at one address:
 *
 *     malloc   |=====================================|
 *     carved   |xxxxx|   |xxxxx||xxxxx|
 *     node            ^ the arena's, with the words that nobody else has
 *
 * A pointer to a carved block means that one; between them, the arena. It lives as long as one of
 * them does: what is reachable leads to what it lies in. Roots are cut in the same way.
 */
#ifndef PRELOAD_MARK_NESTED_BLOCKS_H
#define PRELOAD_MARK_NESTED_BLOCKS_H

#include "preload/heap/suballoc.h"
#include "preload/mark/mark_nodes.h"

/* pool: of a carved one, or CARVED_ANY: of malloc's. Makes it begin where nobody else does; false:
 * there is no such place. */
bool nesting_rest(struct block *block, uint32_t pool);

/* It begins so late, and not where it began: to be known before the index. */
void nesting_note(struct reach *reach, const struct block *block, uintptr_t began, uint64_t size);
/* Behind the index. False: no memory. */
bool nesting_find(struct reach *reach);

/* The next piece of [start, end) that no carved block has, which moves behind it; all else is 0 at
 * first. within: a block that it begins in the middle of is no reason to cut. */
struct nesting_cut {
    uintptr_t start, end;
    bool within, begun;
    uint32_t next;
};
bool nesting_cut(const struct reach *reach, struct nesting_cut *cut, uintptr_t *piece_start,
                 uintptr_t *piece_end);

/* Where the allocator had put it, and how large. */
void nesting_home(const struct reach *reach, uint32_t node, uintptr_t *start, uint64_t *size);

#endif
