/* sorted_blocks.c - regions are sorted by their numbers, ten bits at a time, from the lowest on. */
#include "preload/heap/sorted_blocks.h"
#include "preload/heap/scan_arena.h"

#define DIGIT_BITS 10
#define DIGITS (1u << DIGIT_BITS)

static unsigned digit_of(const struct blocks_region *region, unsigned shift)
{
    return blocks_region_number(region) >> shift & (DIGITS - 1);
}

/* False: all have the same there, and nothing was moved. */
static bool sort_by_digit(const struct blocks_region *from, struct blocks_region *to,
                          uint64_t count, unsigned shift)
{
    static uint32_t next[DIGITS];
    memset(next, 0, sizeof next);
    for (uint64_t i = 0; i < count; i++)
        next[digit_of(&from[i], shift)]++;
    if (next[digit_of(&from[0], shift)] == count)
        return false;
    for (uint32_t digit = 0, before = 0; digit < DIGITS; digit++) {
        uint32_t here = next[digit];
        next[digit] = before;
        before += here;
    }
    for (uint64_t i = 0; i < count; i++)
        to[next[digit_of(&from[i], shift)]++] = from[i];
    return true;
}

static uint64_t differing_bits(const struct blocks_region *regions, uint64_t count)
{
    uint64_t differ = 0;
    for (uint64_t i = 1; i < count; i++)
        differ |= blocks_region_number(&regions[i]) ^ blocks_region_number(&regions[0]);
    return differ;
}

/* Where the sorted ones are: one of the two. */
static const struct blocks_region *sort(struct blocks_region *regions, struct blocks_region *other,
                                        uint64_t count)
{
    uint64_t differ = differing_bits(regions, count);
    for (unsigned shift = 0; shift < 64 && differ >> shift; shift += DIGIT_BITS)
        if (sort_by_digit(regions, other, count, shift)) {
            struct blocks_region *sorted = other;
            other = regions;
            regions = sorted;
        }
    return regions;
}

void in_order_each(uint64_t memory_most, blocks_visit *visit, void *context)
{
    struct room room = {.most = memory_most};
    uint64_t count = blocks_regions(NULL);
    struct blocks_region *regions = room_map(&room, count, sizeof *regions);
    struct blocks_region *other = room_map(&room, count, sizeof *other);
    if (regions && other && count < UINT32_MAX) {
        blocks_regions(regions);
        blocks_each_of(sort(regions, other, count), count, visit, context);
    } else {
        blocks_each(visit, context);
    }
    room_end(&room);
}
