/* table_regions.h - memory for hash tables in stripes that double one by one.
 *
 * Stripes of a good hash are full at nearly the same time. So the tables of one size of all stripes
 * are parts of one region, which is mapped when the first of them is needed; from 2 MiB on it
 * consists of huge pages, because a look at a random place of many small pages waits for the
 * translation of its address as long as for the data.
 *
 * A table is named by a handle: its address, and in the low bits the log2 of its pages. An outgrown
 * table stays mapped, since a reader may still be in it, but its memory is returned where the kernel
 * allows it, and then it reads as empty.
 */
#ifndef PRELOAD_CONTEXTS_TABLE_REGIONS_H
#define PRELOAD_CONTEXTS_TABLE_REGIONS_H

#include "preload/base/lock.h"
#include "leak_store.h"

#define TABLE_STRIPES 32
#define TABLE_SIZES 22 /* tables of 4 KiB << 0 .. 21 */

typedef uintptr_t table_handle;

struct table_regions {
    struct lock lock;
    char *memory[TABLE_SIZES], *start[TABLE_SIZES]; /* NULL: not mapped; start is aligned */
};

static inline void *table_address(table_handle table)
{
    return (void *)(table & -(uintptr_t)LEAK_PAGE);
}

static inline size_t table_bytes(table_handle table)
{
    return LEAK_PAGE << table % LEAK_PAGE;
}

/* An empty table for that stripe; it was never given out before. 0: no memory. */
table_handle table_regions_make(struct table_regions *regions, unsigned stripe, unsigned size);
void table_regions_abandon(table_handle table);
/* Unmaps all regions but the first, and empties that, in a fork child, which has one thread. */
void table_regions_reset(struct table_regions *regions);

#endif
