#include "preload/roots/heap_ranges.h"
#include "preload/mark/nested_blocks.h"
#include "preload/base/sys.h"

#define GLIBC_HEAP (64ull << 20) /* size and alignment of a heap of glibc's other arenas */
#define GLIBC_MMAPPED 2          /* in the word below a block: it has a mapping of its own */
#define HEAPS_MOST (1u << 20)    /* touched only as far as they are used */

/* At the start of each of these heaps. */
struct glibc_heap {
    uintptr_t arena;
    uintptr_t before;
    uint64_t size;
};

static void add(struct heaps *heaps, uintptr_t start, uintptr_t end)
{
    if (heaps->count < HEAPS_MOST)
        heaps->heap[heaps->count++] = (struct heap){start, end};
}

/* Does a heap of an arena begin here? Its first word points to the arena, which lies at the start
 * of such a heap: of this one, or of the arena's first. */
static bool is_glibc_heap(const struct maps *maps, uintptr_t start)
{
    const struct glibc_heap *heap = (const void *)start;
    const struct mapping *mapping;
    uintptr_t first = heap->arena & ~(GLIBC_HEAP - 1);
    if (heap->arena - first - sizeof *heap > 256 || !first || heap->size > GLIBC_HEAP ||
        heap->size < LEAK_PAGE)
        return false;
    return first == start || ((mapping = procmaps_find(maps, first)) && procmaps_is_anonymous(mapping) &&
                              *(const uintptr_t *)first == heap->arena);
}

static void add_glibc_heaps(const struct maps *maps, const struct mapping *mapping,
                            struct heaps *heaps)
{
    if (strncmp(mapping->path, "[heap", 5) == 0)
        add(heaps, mapping->start, mapping->end);
    for (uintptr_t at = round_up(mapping->start, GLIBC_HEAP); at < mapping->end; at += GLIBC_HEAP)
        if (is_glibc_heap(maps, at))
            add(heaps, at, at + ((const struct glibc_heap *)at)->size);
}

/* The mapping that glibc made for one block; all of the kernel's, which may have neighbours in it,
 * when it made none. */
static struct heap home_of(const struct mapping *mapping, uintptr_t address, uint64_t size,
                           bool glibc)
{
    const struct heap all = {mapping->start, mapping->end};
    if (!glibc || address % 16 || address - mapping->start < 16)
        return all;
    const uint64_t *chunk = (const uint64_t *)address - 2; /* alignment may have cost something */
    const struct heap own = {address - 16 - chunk[0], address - 16 + (chunk[1] & ~7ull)};
    return chunk[1] & GLIBC_MMAPPED && own.start % LEAK_PAGE == 0 && own.end % LEAK_PAGE == 0 &&
                   own.end >= address + size
               ? own
               : all;
}

/* Shell sort: a few thousand, nearly in order. */
void heaps_sort(struct heap *list, uint32_t count)
{
    for (uint32_t gap = count / 2; gap; gap /= 2)
        for (uint32_t i = gap; i < count; i++) {
            struct heap item = list[i];
            uint32_t k = i;
            for (; k >= gap && list[k - gap].start > item.start; k -= gap)
                list[k] = list[k - gap];
            list[k] = item;
        }
}

/* What blocks lie in that is not yet among the heaps; blocks and heaps both ascend. */
static void add_homes(const struct maps *maps, const struct reach *reach, bool glibc,
                      struct heaps *heaps)
{
    uint32_t known = heaps->count, at = 0;
    struct heap home = {0};
    for (uint32_t i = 0, count = reach_count(reach); i < count; i++) {
        uintptr_t address;
        uint64_t size;
        if (reach_is_carved(reach, i)) /* what it lies in is no allocator's of ours for that */
            continue;
        nesting_home(reach, i, &address, &size);
        while (at < known && heaps->heap[at].end <= address)
            at++;
        if ((at < known && heaps->heap[at].start <= address) ||
            address - home.start < home.end - home.start)
            continue;
        const struct mapping *mapping = procmaps_find(maps, address);
        if (!mapping)
            continue;
        home = home_of(mapping, address, size, glibc);
        add(heaps, home.start, home.end);
    }
}

bool heaps_find(const struct maps *maps, const struct reach *reach, bool glibc, struct heaps *out)
{
    *out = (struct heaps){.heap = sys_map_lazily(HEAPS_MOST * sizeof *out->heap)};
    if (!out->heap)
        return false;
    for (uint32_t i = 0; glibc && i < maps->count; i++)
        if (procmaps_is_anonymous(&maps->mapping[i]))
            add_glibc_heaps(maps, &maps->mapping[i], out);
    heaps_sort(out->heap, out->count);
    add_homes(maps, reach, glibc, out);
    heaps_sort(out->heap, out->count);
    return true;
}
