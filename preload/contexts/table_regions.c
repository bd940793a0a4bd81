#include "preload/contexts/table_regions.h"
#include "preload/memory/arena.h"
#include "preload/base/base.h"
#include "preload/base/sys.h"

#include <sys/mman.h>

#define HUGE_PAGE (2ul << 20)

static size_t region_bytes(unsigned size)
{
    return (size_t)TABLE_STRIPES * LEAK_PAGE << size;
}

/* Returns the number of bytes that are mapped for a region: from 2 MiB on more than its size, so
 * that it can be aligned to huge pages. */
static size_t mapped_bytes(unsigned size)
{
    return region_bytes(size) + (region_bytes(size) < HUGE_PAGE ? 0 : HUGE_PAGE);
}

static void map_region(struct table_regions *regions, unsigned size)
{
    char *memory = arena_map(mapped_bytes(size));
    regions->memory[size] = regions->start[size] = memory;
    if (!memory || region_bytes(size) < HUGE_PAGE)
        return;
    regions->start[size] = (char *)(uintptr_t)round_up((uintptr_t)memory, HUGE_PAGE);
    sys_advise(regions->start[size], region_bytes(size), MADV_HUGEPAGE);
}

table_handle table_regions_make(struct table_regions *regions, unsigned stripe, unsigned size)
{
    if (size >= TABLE_SIZES)
        return 0;
    struct locked locked = lock_take(&regions->lock);
    if (!regions->start[size])
        map_region(regions, size);
    char *start = regions->start[size];
    lock_give(&locked);
    return start ? ((table_handle)start + stripe * (LEAK_PAGE << size)) | size : 0;
}

void table_regions_abandon(table_handle table)
{
    /* The kernel takes back whole pages, so the memory of a table that shares a page with another
     * one is kept. */
    if (table_bytes(table) % sys_page_size() == 0)
        sys_advise(table_address(table), table_bytes(table), MADV_DONTNEED);
}

void table_regions_reset(struct table_regions *regions)
{
    regions->lock.word = 0;
    for (unsigned size = 1; size < TABLE_SIZES; size++) {
        if (regions->memory[size])
            arena_unmap(regions->memory[size], mapped_bytes(size));
        regions->memory[size] = regions->start[size] = NULL;
    }
    /* The kernel refuses to take back memory that the program has locked (mlock). */
    if (sys_advise(regions->start[0], region_bytes(0), MADV_DONTNEED) < 0)
        memset(regions->start[0], 0, region_bytes(0));
}
