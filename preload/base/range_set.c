#include "preload/base/range_set.h"

/* How many start above the address: those are first. */
static uint32_t above(const struct ranges *ranges, uintptr_t address)
{
    uint32_t low = 0, high = ranges->count;
    if (!high || ranges->at[high - 1].start > address)
        return high; /* below all: where the kernel puts the next one */
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (ranges->at[middle].start > address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void insert(struct ranges *ranges, uint32_t place, struct range range)
{
    memmove(&ranges->at[place + 1], &ranges->at[place],
            (ranges->count - place) * sizeof *ranges->at);
    ranges->at[place] = range;
    ranges->count++;
}

static void take_out(struct ranges *ranges, uint32_t place)
{
    ranges->count--;
    memmove(&ranges->at[place], &ranges->at[place + 1],
            (ranges->count - place) * sizeof *ranges->at);
}

static bool is_empty(const struct range *range)
{
    return range->start >= range->end;
}

/* The range at place overlaps [start, end). */
static void cut_one(struct ranges *ranges, uint32_t place, uintptr_t start, uintptr_t end,
                    ranges_left *left, void *context)
{
    struct range was = ranges->at[place];
    struct range below = {was.start, start > was.start ? start : was.start, was.number};
    struct range over = {end < was.end ? end : was.end, was.end, was.number};
    bool both = !is_empty(&below) && !is_empty(&over);
    if (both && ranges->count == ranges->room) { /* the upper part is not told */
        over.end = over.start;
        both = false;
    }
    uint32_t name = left(&was, &below, &over, context);
    if (is_empty(&below) && is_empty(&over)) {
        take_out(ranges, place);
        return;
    }
    ranges->at[place] = is_empty(&below) ? over : below;
    if (both && name) {
        over.number = name;
        insert(ranges, place, over);
    }
}

void ranges_cut(struct ranges *ranges, uintptr_t start, uintptr_t end, ranges_left *left,
                void *context)
{
    if (start >= end)
        return;
    /* From the highest that begins below the end downwards, to the first that ends below start. */
    uint32_t place = above(ranges, end - 1);
    while (place < ranges->count && ranges->at[place].end > start) {
        uint32_t before = ranges->count;
        bool whole = ranges->at[place].start >= start && ranges->at[place].end <= end;
        cut_one(ranges, place, start, end, left, context);
        if (!whole)
            place += 1 + (ranges->count - before);
    }
}

bool ranges_put(struct ranges *ranges, uintptr_t start, uintptr_t end, uint32_t number)
{
    if (ranges->count == ranges->room)
        return false;
    insert(ranges, above(ranges, start), (struct range){start, end, number});
    return true;
}

const struct range *ranges_around(const struct ranges *ranges, uintptr_t address)
{
    uint32_t place = above(ranges, address);
    const struct range *range = &ranges->at[place];
    return place < ranges->count && range->end > address ? range : NULL;
}

bool ranges_check(const struct ranges *ranges)
{
    for (uint32_t i = 0; i < ranges->count; i++)
        if (is_empty(&ranges->at[i]) || (i && ranges->at[i].end > ranges->at[i - 1].start))
            return false;
    return ranges->count <= ranges->room;
}
