#include "preload/memory/collections.h"

/* ---- Sets of address ranges ------------------------------------------------------------------ */

/* Returns the number of ranges that start above the address. The set is sorted by falling start, so
 * these ranges are at its beginning. */
static uint32_t count_above(const struct range_set *ranges, uintptr_t address)
{
    uint32_t count = ranges->count;
    if (!count || ranges->at[count - 1].start > address)
        /* All ranges start above the address: the usual case, because the kernel maps downwards. */
        return count;
    return LOWER_BOUND(count, i, ranges->at[i].start > address);
}

static void insert_range(struct range_set *ranges, uint32_t place, struct range range)
{
    memmove(&ranges->at[place + 1], &ranges->at[place],
            (ranges->count - place) * sizeof *ranges->at);
    ranges->at[place] = range;
    ranges->count++;
}

static void remove_range(struct range_set *ranges, uint32_t place)
{
    ranges->count--;
    memmove(&ranges->at[place], &ranges->at[place + 1],
            (ranges->count - place) * sizeof *ranges->at);
}

static bool is_empty_range(const struct range *range)
{
    return range->start >= range->end;
}

/* Removes the part of the range at index place that lies in [start, end); the two overlap. */
static void cut_range(struct range_set *ranges, uint32_t place, uintptr_t start, uintptr_t end,
                      range_set_left *left, void *context)
{
    struct range was = ranges->at[place];
    struct range below = {was.start, start > was.start ? start : was.start, was.number};
    struct range above = {end < was.end ? end : was.end, was.end, was.number};
    bool both = !is_empty_range(&below) && !is_empty_range(&above);
    /* If the set has no room for a second part, the upper one is dropped, and left() is called as
     * if only the lower one remained. */
    if (both && ranges->count == ranges->room) {
        above.end = above.start;
        both = false;
    }
    uint32_t number = left(&was, &below, &above, context);
    if (is_empty_range(&below) && is_empty_range(&above)) {
        remove_range(ranges, place);
        return;
    }
    ranges->at[place] = is_empty_range(&below) ? above : below;
    if (both && number) {
        above.number = number;
        insert_range(ranges, place, above);
    }
}

void range_set_cut(struct range_set *ranges, uintptr_t start, uintptr_t end, range_set_left *left,
                   void *context)
{
    if (start >= end)
        return;
    /* The ranges are visited from the highest one that begins below end, down to the first one that
     * ends below start. */
    uint32_t place = count_above(ranges, end - 1);
    while (place < ranges->count && ranges->at[place].end > start) {
        uint32_t before = ranges->count;
        bool whole = ranges->at[place].start >= start && ranges->at[place].end <= end;
        cut_range(ranges, place, start, end, left, context);
        if (!whole)
            place += 1 + (ranges->count - before);
    }
}

bool range_set_insert(struct range_set *ranges, uintptr_t start, uintptr_t end, uint32_t number)
{
    if (ranges->count == ranges->room)
        return false;
    insert_range(ranges, count_above(ranges, start), (struct range){start, end, number});
    return true;
}

const struct range *range_set_find(const struct range_set *ranges, uintptr_t address)
{
    uint32_t place = count_above(ranges, address);
    const struct range *range = &ranges->at[place];
    return place < ranges->count && range->end > address ? range : NULL;
}

bool range_set_check(const struct range_set *ranges)
{
    for (uint32_t i = 0; i < ranges->count; i++)
        if (is_empty_range(&ranges->at[i]) || (i && ranges->at[i].end > ranges->at[i - 1].start))
            return false;
    return ranges->count <= ranges->room;
}

/* ---- Points in time, downsampled ------------------------------------------------------------- */

/* Returns the weight of a point (the formula at struct downsample in collections.h) as a
 * fixed-point number: all factors are far below 2^32. */
static uint64_t point_weight(const struct downsample *points, uint32_t i, uint32_t now)
{
    uint64_t gap = points->tick[i + 1] - points->tick[i - 1];
    uint64_t age = now - points->tick[i], life = now - points->tick[0];
    return (gap << 24) / age + DOWNSAMPLE_EVEN * (gap << 24) / life;
}

static uint32_t least_point(const struct downsample *points, uint32_t now)
{
    uint32_t least = 1;
    uint64_t smallest = UINT64_MAX;
    for (uint32_t i = 1; i + 1 < points->count; i++) {
        uint64_t weight = point_weight(points, i, now);
        if (weight < smallest) {
            smallest = weight;
            least = i;
        }
    }
    return least;
}

size_t downsample_place(struct downsample *points, uint32_t tick)
{
    if (points->count && tick <= downsample_last(points))
        return SIZE_MAX;
    uint8_t place = points->count;
    if (points->count == points->room) {
        uint32_t least = least_point(points, tick), behind = --points->count - least;
        place = points->place[least];
        memmove(&points->place[least], &points->place[least + 1], behind * sizeof *points->place);
        memmove(&points->tick[least], &points->tick[least + 1], behind * sizeof *points->tick);
    }
    points->place[points->count] = place;
    points->tick[points->count++] = tick;
    return place;
}
