#include "preload/resources/mmap_regions.h"
#include "preload/memory/arena.h"
#include "preload/resources/handle_table.h"
#include "preload/resources/descriptors.h"
#include "preload/memory/collections.h"
#include "preload/base/sys.h"

static struct range_set ranges;
static struct lock ranges_lock;

bool mmap_regions_start(void)
{
    ranges.at = arena_map(HANDLES_MAX * sizeof *ranges.at);
    ranges.room = ranges.at ? HANDLES_MAX : 0;
    return ranges.at != NULL;
}

static uintptr_t page_end(uintptr_t start, size_t size)
{
    uint64_t whole = round_up(size, sys_page_size());
    return whole > UINTPTR_MAX - start ? UINTPTR_MAX : start + whole;
}

/* Updates the records after a part of a region was unmapped (range_set_left): the record gets the
 * lower of the remaining parts, and a new record the other. Returns the number of the new
 * record. */
static uint32_t keep_remainder(const struct range *was, const struct range *below,
                               const struct range *above, void *guard)
{
    size_t low = below->end > below->start ? below->end - below->start : 0;
    size_t high = above->end > above->start ? above->end - above->start : 0;
    struct leak_resource it;
    if (!low && !high)
        handle_table_remove_region(was->number);
    else
        handle_table_set_region(was->number, low ? below->start : above->start, low ? low : high);
    if (!low || !high || !handle_table_get(was->number, &it))
        return 0;
    return handle_table_add_region(guard, &it, above->start, high);
}

static void insert_region(struct guard *guard, const struct leak_resource *it, uintptr_t start,
                          uintptr_t end)
{
    range_set_cut(&ranges, start, end, keep_remainder, guard);
    uint32_t number = handle_table_add_region(guard, it, start, end - start);
    if (number && !range_set_insert(&ranges, start, end, number))
        handle_table_remove_region(number);
}

void mmap_regions_add(struct guard *guard, const struct frame *caller, uintptr_t start, size_t size,
                      int fd)
{
    struct leak_resource file;
    struct news news = {.type = LEAK_RESOURCE_MMAP,
                        .sort = fd < 0 ? LEAK_SORT_ANONYMOUS : LEAK_SORT_MAPPED,
                        .id = start,
                        .bytes = size,
                        .fd = -1};
    struct resource_record record = {0};
    if (fd >= 0 && descriptors_find(fd, &file) && file.name_form == LEAK_NAME_TEXT &&
        file.name_length) {
        news.name = file.name;
        news.length = file.name_length;
    }
    resource_record_fill(&record, &news);
    record.it.opened = resource_mark_caller(guard, caller);
    if (!record.it.opened.node) {
        resource_count_missed();
        return;
    }
    struct locked locked = lock_take(&ranges_lock);
    insert_region(guard, &record.it, start, page_end(start, size));
    lock_give(&locked);
    resource_count_opened(LEAK_RESOURCE_MMAP);
}

struct locked mmap_regions_lock(struct guard *guard UNUSED)
{
    return lock_take(&ranges_lock);
}

void mmap_regions_unlock(struct locked *held)
{
    lock_give(held);
}

void mmap_regions_remove(struct guard *guard, uintptr_t start, size_t size)
{
    range_set_cut(&ranges, start, page_end(start, size), keep_remainder, guard);
}

void mmap_regions_move(struct guard *guard, struct leak_mark mark, uintptr_t from, size_t from_size,
                       uintptr_t to, size_t to_size, bool copy)
{
    const struct range *range = range_set_find(&ranges, from);
    struct leak_resource it = {.type = LEAK_RESOURCE_MMAP,
                               .sort = LEAK_SORT_ANONYMOUS,
                               .count = 1,
                               .opened = mark,
                               .fd = -1};
    if (range)
        handle_table_get(range->number, &it);
    if (!copy)
        range_set_cut(&ranges, from, page_end(from, from_size), keep_remainder, guard);
    if (it.opened.node)
        insert_region(guard, &it, to, page_end(to, to_size));
}

LOCK_FOR_FORK(mmap_regions, &ranges_lock)

void mmap_regions_fork_child(void)
{
    ranges_lock.word = 0;
}
