/* sorted_blocks.h - the live blocks, region after region in the order of their addresses.
 *
 * The table keeps regions by a hash. A look makes tables in the order of addresses: fed in the
 * table's order it would miss the caches at each region, in every one of them; and trays mostly lie
 * in the order in which the program has allocated, which is that of addresses, too.
 */
#ifndef PRELOAD_HEAP_SORTED_BLOCKS_H
#define PRELOAD_HEAP_SORTED_BLOCKS_H

#include "preload/heap/blocks.h"

/* As blocks_each, which it is where there is no memory for the order: memory_most, 32 bytes a
 * region. Blocks of one region, and the young, come as they are. */
void in_order_each(uint64_t memory_most, blocks_visit *visit, void *context);

#endif
