/* header_idioms.h - blocks that a program always holds behind a header: allocators and strings with
 * a length in front, hash-table items held by their key, intrusive list links, aligned buffers.
 *
 * One interior pointer proves nothing. So marking first follows all of them tentatively, and counts
 * for each group of blocks where the pointers point. Blocks belong to the group of their allocation
 * site, and to the groups of all sites that share its innermost frames: g_type_register makes one
 * block a site, but all in one function. In a group
 *
 *     an offset is an idiom if      BLOCKS_LEAST of its blocks are held there, or more of them
 *     these offsets count if        together they have HELD_SHARE of the blocks held inside, and at
 *                                   least as many as are held at the start
 *     a footer is an idiom if       the same holds for the distance of the highest pointer to the end
 *     an alignment is an idiom if   the same share has the first multiple of it behind a header, in
 *                                   more blocks than chance allows
 *
 *     a tag is an idiom if          BLOCKS_LEAST of its blocks are held there, 1 to 7 bytes behind the
 *                                   start, by blocks of the same site: links with a color or a flag
 *
 * What is lost wholly does not count: it stays lost. What is held elsewhere stays possible.
 */
#ifndef PRELOAD_MARK_HEADER_IDIOMS_H
#define PRELOAD_MARK_HEADER_IDIOMS_H

#include "preload/mark/mark_nodes.h"

struct header_idioms;

/* Call while nodes that are not reachable are marked tentatively: those are possible. NULL: there is
 * no idiom, or no memory to find it. */
struct header_idioms *header_idioms_find(struct reach *reach);
/* True if a pointer with that offset holds the block as well as one to its start. */
bool header_idioms_allow(const struct header_idioms *idioms, const struct reach *reach,
                         uint32_t node, uint64_t offset);
void header_idioms_free(struct header_idioms *idioms, struct reach *reach);

#endif
