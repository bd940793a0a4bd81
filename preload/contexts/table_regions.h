/* table_regions.h - allocates the memory of hash tables that consist of stripes, each of which
 * doubles when it is full.
 *
 * With a good hash all stripes are full at nearly the same time. So the tables of all stripes that
 * have one size are parts of one region, which is mapped when the first of them is needed. From 2
 * MiB on a region consists of huge pages: with small pages a random access would wait for the
 * translation of its address as long as for the data.
 *
 * A table has a handle: its address, with the logarithm of its number of pages in the low bits. A
 * table that was replaced by a larger one stays mapped, because another thread may still read it;
 * but the kernel gets its memory back if possible, and then it reads as empty. */
#ifndef PRELOAD_CONTEXTS_TABLE_REGIONS_H
#define PRELOAD_CONTEXTS_TABLE_REGIONS_H

#include "preload/base/lock.h"
#include "leak_store.h"

#define TABLE_STRIPES 32
#define TABLE_SIZES 22 /* number of sizes of tables: 4 KiB << 0 to 4 KiB << 21 */

typedef uintptr_t table_handle;

struct table_regions {
    struct lock lock;
    /* For each size of table its region. memory: the region as mapped; NULL: not mapped. start: the
     * part of it that is aligned to a huge page. */
    char *memory[TABLE_SIZES], *start[TABLE_SIZES];
};

static inline void *table_address(table_handle table)
{
    return (void *)(table & -(uintptr_t)LEAK_PAGE);
}

static inline size_t table_bytes(table_handle table)
{
    return LEAK_PAGE << table % LEAK_PAGE;
}

/* Returns an empty table of 4 KiB << size for a stripe; called once for each stripe and size. 0:
 * there is no memory. */
table_handle table_regions_make(struct table_regions *regions, unsigned stripe, unsigned size);
void table_regions_abandon(table_handle table);
/* Unmaps all regions except the first, and clears the first, in a fork child, where no other thread
 * reads a table. */
void table_regions_reset(struct table_regions *regions);

#endif
