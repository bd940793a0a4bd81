/* scan_ranges.c - divides memory into the ranges that are scanned for pointers. */
#include "preload/roots/scan_ranges.h"
#include "preload/base/sys.h"
#include "leak_store.h"
#include "preload/elf/procmaps.h"
#include "preload/elf/symtab.h"

/* The size in bytes from which on only the touched pages of a range are read; of anonymous memory
 * only these are read at any size. */
#define SPARSE (4ull << 20)
#define PAGE_OF_FILE (1ull << 61)

bool scan_ranges_open(struct scan_ranges *ranges, unsigned classes)
{
    *ranges = (struct scan_ranges){.range = sys_map_lazily(SCAN_RANGES_MAX * sizeof *ranges->range),
                                   .classes = classes,
                                   .pagemap = pagemap_open()};
    return ranges->range;
}

static void append_range(struct scan_ranges *ranges, uintptr_t start, uintptr_t end,
                         struct scan_range range)
{
    if (start >= end || scan_ranges_full(ranges))
        return;
    range.start = start;
    range.end = end;
    ranges->range[ranges->count++] = range;
}

static bool class_selected(const struct scan_ranges *ranges, const struct scan_range *range)
{
    return ranges->classes >> range->root_class & 1;
}

/* Adds those parts of [start, end) whose pages were touched. of_file: true for a mapped file, of
 * which only pages that the program has written are added. */
static void append_touched(struct scan_ranges *ranges, uintptr_t start, uintptr_t end,
                           struct scan_range model, bool of_file)
{
    uint64_t entry[512];
    uintptr_t begin = 0;
    for (uintptr_t at = start & ~(LEAK_PAGE - 1); at < end;) {
        size_t pages = pagemap_read(ranges->pagemap, at, end, entry, ARRAY_LENGTH(entry));
        for (size_t i = 0; i < pages; i++, at += LEAK_PAGE) {
            bool there = pagemap_is_touched(entry[i]) && !(of_file && entry[i] & PAGE_OF_FILE);
            if (there && !begin)
                begin = at > start ? at : start;
            if (!there && begin)
                append_range(ranges, begin, at, model);
            begin = there ? begin : 0;
        }
    }
    if (begin)
        append_range(ranges, begin, end, model);
}

void scan_ranges_add(struct scan_ranges *ranges, uintptr_t start, uintptr_t end,
                     struct scan_range model)
{
    start = round_up(start, sizeof(uintptr_t));
    if (!class_selected(ranges, &model) || start >= end)
        return;
    /* Anonymous memory may have guard pages that no mapping shows, and that must not be read: those
     * of glibc 2.42 below stacks. */
    bool partly = end - start >= SPARSE || model.root_class == LEAK_ROOT_CLASS_ANON;
    if (partly && ranges->pagemap >= 0)
        append_touched(ranges, start, end, model, false);
    else
        append_range(ranges, start, end, model);
}

void scan_ranges_add_written(struct scan_ranges *ranges, uintptr_t start, uintptr_t end,
                             struct scan_range model)
{
    if (class_selected(ranges, &model) && start < end && ranges->pagemap >= 0)
        append_touched(ranges, start, end, model, true);
}

bool scan_ranges_full(const struct scan_ranges *ranges)
{
    return ranges->count == SCAN_RANGES_MAX;
}

/* ---- Data that an allocator hands out as blocks ---------------------------------------------- */

#define CUTS_MOST (SCAN_RANGES_MAX / 4)

static uintptr_t block_end(const struct reach *reach, uint32_t node)
{
    return reach_address(reach, node) + reach_size(reach, node);
}

struct search {
    const struct reach *reach;
    uintptr_t bias;
    struct data_roots *out;
};

static void visit_variable(const struct symtab_symbol *variable, void *context)
{
    const struct search *search = context;
    struct data_roots *out = search->out;
    uintptr_t start = search->bias + variable->value, end = start + variable->size;
    uint32_t first = reach_lower_bound(search->reach, start),
             behind = reach_lower_bound(search->reach, end);
    if (first == behind || out->count == DATA_ROOTS_MAX ||
        block_end(search->reach, behind - 1) > end)
        return;
    out->between[out->count].start = reach_address(search->reach, first);
    out->between[out->count++].end = block_end(search->reach, behind - 1);
}

void data_roots_find(const struct reach *reach, uintptr_t bias, struct data_roots *out)
{
    struct search search = {reach, bias, out};
    symtab_each_variable("/proc/self/exe", visit_variable, &search);
}

static uintptr_t cut_end(const struct data_roots *variables, const struct reach *reach,
                         uint32_t node)
{
    uintptr_t address = reach_address(reach, node);
    for (uint32_t i = 0; i < variables->count; i++)
        if (variables->between[i].start == address)
            return variables->between[i].end;
    return block_end(reach, node);
}

void data_roots_add(const struct data_roots *variables, const struct reach *reach,
                    struct scan_ranges *ranges, uintptr_t start, uintptr_t end,
                    struct scan_range model)
{
    uint32_t node = reach_lower_bound(reach, start);
    while (node < reach_count(reach) && reach_address(reach, node) < end &&
           ranges->count < CUTS_MOST) {
        scan_ranges_add(ranges, start, reach_address(reach, node), model);
        start = cut_end(variables, reach, node);
        node = reach_lower_bound(reach, start);
    }
    scan_ranges_add(ranges, start, end, model);
}
