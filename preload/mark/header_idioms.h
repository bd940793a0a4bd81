/* header_idioms.h - recognises blocks that a program always holds by a pointer behind a header:
 * memory of allocators that store a header before it, strings after their length, hash-table items
 * held by their key, intrusive list links, aligned buffers.
 *
 * One interior pointer proves nothing. So marking first follows all of them tentatively, and counts
 * for each group of blocks to which offsets the pointers lead. Blocks belong to the group of their
 * allocation site, and to the groups of all sites that share its innermost frames: g_type_register
 * allocates one block at each site, but all of them in one function. In a group
 *
 *     an offset is an idiom if      BLOCKS_LEAST of its blocks are held there, or more of them
 *     these offsets count if        together they have HELD_SHARE of the blocks held inside, and at
 *                                   least as many as are held at the start
 *     a footer is an idiom if       the same holds for the distance of the highest pointer to the
 *                                   end
 *     an alignment is an idiom if   the same share has the first multiple of it behind a header, in
 *                                   more blocks than chance allows
 *
 *     a tag is an idiom if          BLOCKS_LEAST of its blocks are held there, 1 to 7 bytes behind
 *                                   the start, by blocks of the same group and size: links with a
 *                                   color or a flag, as in the trees of tsearch()
 *
 * Blocks to which no pointer leads do not count, and stay lost. Blocks held at other offsets stay
 * possible. */
#ifndef PRELOAD_MARK_HEADER_IDIOMS_H
#define PRELOAD_MARK_HEADER_IDIOMS_H

#include "preload/mark/mark_nodes.h"

struct header_idioms;

/* Finds the idioms; called while all nodes that are not reachable are marked tentatively as
 * possible. NULL: there is no idiom, or no memory to find one. */
struct header_idioms *header_idioms_find(struct reach *reach);
/* Says whether a pointer with this offset holds the block as well as a pointer to its start
 * does. */
bool header_idioms_allow(const struct header_idioms *idioms, const struct reach *reach,
                         uint32_t node, uint64_t offset);
void header_idioms_free(struct header_idioms *idioms, struct reach *reach);

#endif
