/* address_order.c - visits the block table in address order, by a radix sort of its regions (2 KiB
 * of addresses each): ten bits of their numbers at a time, from the lowest on. */
#include "preload/blocks/blocks.h"
#include "preload/blocks/table.h"
#include "preload/mark/reachability.h"
#include "preload/mark/scan_arena.h"

#define DIGIT_BITS 10
#define DIGITS (1u << DIGIT_BITS)

static unsigned digit_of(const struct blocks_region *region, unsigned shift)
{
    return blocks_region_number(region) >> shift & (DIGITS - 1);
}

/* Sorts regions by one digit of their numbers. False: the digit is the same in all regions, so none
 * was moved. */
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

/* Sorts the regions, with a second array as scratch. Returns the one of the two arrays that holds
 * the result. */
static const struct blocks_region *sort_regions(struct blocks_region *regions,
                                                struct blocks_region *other, uint64_t count)
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

void address_order_each_block(uint64_t memory_most, blocks_visit *visit, void *context)
{
    struct scan_arena arena = {.most = memory_most};
    uint64_t count = table_copy_regions(NULL);
    struct blocks_region *regions = scan_arena_map(&arena, count, sizeof *regions);
    struct blocks_region *other = scan_arena_map(&arena, count, sizeof *other);
    if (regions && other && count < UINT32_MAX) {
        table_copy_regions(regions);
        blocks_each_in_order(sort_regions(regions, other, count), count, visit, context);
    } else {
        blocks_each(visit, context);
    }
    scan_arena_free(&arena);
}
