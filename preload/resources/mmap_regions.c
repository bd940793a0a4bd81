#include "preload/resources/mmap_regions.h"
#include "preload/base/arena.h"
#include "preload/resources/handle_table.h"
#include "preload/resources/descriptors.h"
#include "preload/base/range_set.h"
#include "preload/base/sys.h"

static struct ranges ranges;
static struct lock lock; /* guards it */

bool regions_start(void)
{
    ranges.at = arena_map(BELONGINGS_MOST * sizeof *ranges.at);
    ranges.room = ranges.at ? BELONGINGS_MOST : 0;
    return ranges.at != NULL;
}

static uintptr_t end_of(uintptr_t start, size_t size)
{
    uint64_t whole = round_up(size, sys_page_size());
    return whole > UINTPTR_MAX - start ? UINTPTR_MAX : start + whole;
}

static uint32_t left(const struct range *was, const struct range *below, const struct range *above,
                     void *guard)
{
    size_t low = below->end > below->start ? below->end - below->start : 0;
    size_t high = above->end > above->start ? above->end - above->start : 0;
    struct leak_resource it;
    if (!low && !high)
        belongings_region_went(was->number);
    else
        belongings_region_is(was->number, low ? below->start : above->start, low ? low : high);
    if (!low || !high || !belongings_get(was->number, &it))
        return 0;
    return belongings_region(guard, &it, above->start, high);
}

static void put(struct guard *guard, const struct leak_resource *it, uintptr_t start, uintptr_t end)
{
    ranges_cut(&ranges, start, end, left, guard);
    uint32_t number = belongings_region(guard, it, start, end - start);
    if (number && !ranges_put(&ranges, start, end, number))
        belongings_region_went(number);
}

void regions_came(struct guard *guard, const struct frame *caller, uintptr_t start, size_t size,
                  int fd)
{
    struct leak_resource file;
    struct news news = {.type = LEAK_RESOURCE_MMAP,
                        .sort = fd < 0 ? LEAK_SORT_ANONYMOUS : LEAK_SORT_MAPPED,
                        .id = start,
                        .bytes = size,
                        .fd = -1};
    struct record record = {0};
    if (fd >= 0 && descriptors_find(fd, &file) && file.name_form == LEAK_NAME_TEXT &&
        file.name_length) {
        news.name = file.name;
        news.length = file.name_length;
    }
    records_fill(&record, &news);
    record.it.opened = records_mark(guard, caller);
    if (!record.it.opened.node) {
        records_missed();
        return;
    }
    struct locked locked = lock_take(&lock);
    put(guard, &record.it, start, end_of(start, size));
    lock_give(&locked);
    records_count(LEAK_RESOURCE_MMAP);
}

struct locked regions_hold(struct guard *guard UNUSED)
{
    return lock_take(&lock);
}

void regions_let_go(struct locked *held)
{
    lock_give(held);
}

void regions_went(struct guard *guard, uintptr_t start, size_t size)
{
    ranges_cut(&ranges, start, end_of(start, size), left, guard);
}

void regions_moved(struct guard *guard, struct leak_mark mark, uintptr_t from, size_t from_size,
                   uintptr_t to, size_t to_size, bool copy)
{
    const struct range *range = ranges_around(&ranges, from);
    struct leak_resource it = {.type = LEAK_RESOURCE_MMAP,
                               .sort = LEAK_SORT_ANONYMOUS,
                               .count = 1,
                               .opened = mark,
                               .fd = -1};
    if (range)
        belongings_get(range->number, &it);
    if (!copy)
        ranges_cut(&ranges, from, end_of(from, from_size), left, guard);
    if (it.opened.node)
        put(guard, &it, to, end_of(to, to_size));
}

LOCK_FOR_FORK(regions, &lock)

void regions_fork_child(void)
{
    lock.word = 0;
}
