#include "preload/ranges.h"
#include "preload/sys.h"
#include "leak_store.h"

#include <fcntl.h>

#define SPARSE (4ull << 20) /* of larger ranges only pages that were touched are read */
#define PAGE_OF_FILE (1ull << 61)

bool ranges_open(struct ranges *ranges, unsigned classes)
{
    *ranges = (struct ranges){.range = sys_map_lazily(RANGES_MOST * sizeof *ranges->range),
                              .classes = classes,
                              .pagemap = sys_open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC, 0)};
    return ranges->range;
}

static void put(struct ranges *ranges, uintptr_t start, uintptr_t end, struct range range)
{
    if (start >= end || ranges_are_full(ranges))
        return;
    range.start = start;
    range.end = end;
    ranges->range[ranges->count++] = range;
}

static bool is_wanted(const struct ranges *ranges, const struct range *range)
{
    return ranges->classes >> range->root_class & 1;
}

/* The entries of the pages from there on, so many at most; what cannot be read says "there". */
static size_t read_pages(const struct ranges *ranges, uintptr_t at, uintptr_t end, uint64_t *entry,
                         size_t most)
{
    size_t pages = (end - at + LEAK_PAGE - 1) / LEAK_PAGE;
    pages = pages < most ? pages : most;
    ssize_t size = pages * sizeof *entry;
    if (sys_read_at(ranges->pagemap, entry, size, at / LEAK_PAGE * sizeof *entry) != size)
        memset(entry, 0xff, size);
    return pages;
}

/* Runs of pages that are there, or were there and are swapped out: the two highest bits of an
 * entry. */
static void put_touched(struct ranges *ranges, uintptr_t start, uintptr_t end, struct range model,
                        bool of_file)
{
    uint64_t entry[512];
    uintptr_t begin = 0;
    for (uintptr_t at = start & ~(LEAK_PAGE - 1); at < end;) {
        size_t pages = read_pages(ranges, at, end, entry, ARRAY_LENGTH(entry));
        for (size_t i = 0; i < pages; i++, at += LEAK_PAGE) {
            bool there = entry[i] >> 62 && !(of_file && entry[i] & PAGE_OF_FILE);
            if (there && !begin)
                begin = at > start ? at : start;
            if (!there && begin)
                put(ranges, begin, at, model);
            begin = there ? begin : 0;
        }
    }
    if (begin)
        put(ranges, begin, end, model);
}

void ranges_add(struct ranges *ranges, uintptr_t start, uintptr_t end, struct range model)
{
    start = round_up(start, sizeof(uintptr_t));
    if (!is_wanted(ranges, &model) || start >= end)
        return;
    if (end - start >= SPARSE && ranges->pagemap >= 0)
        put_touched(ranges, start, end, model, false);
    else
        put(ranges, start, end, model);
}

void ranges_add_written(struct ranges *ranges, uintptr_t start, uintptr_t end, struct range model)
{
    if (is_wanted(ranges, &model) && start < end && ranges->pagemap >= 0)
        put_touched(ranges, start, end, model, true);
}

bool ranges_are_full(const struct ranges *ranges)
{
    return ranges->count == RANGES_MOST;
}
