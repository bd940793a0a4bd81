/* interval_map.c - finds the ranges that contain an address, in a sorted array of ranges. */
#include "common/base/interval_map.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/arena.h"

void interval_map_add(struct interval_map *spans, uint64_t low, uint64_t high, uint32_t value)
{
    if (low >= high)
        return;
    spans->span = array_grow(spans->span, &spans->capacity, spans->count + 1, sizeof(*spans->span));
    spans->span[spans->count++] = (struct interval){.low = low, .high = high, .value = value};
}

static int by_low(const void *left, const void *right)
{
    const struct interval *a = left, *b = right;

    return COMPARE(a->low, b->low) ?: COMPARE(a->value, b->value);
}

void interval_map_sort(struct interval_map *spans)
{
    uint64_t reach = 0;

    if (spans->count)
        qsort(spans->span, spans->count, sizeof(*spans->span), by_low);
    for (size_t i = 0; i < spans->count; i++) {
        if (spans->span[i].high > reach)
            reach = spans->span[i].high;
        spans->span[i].reach = reach;
    }
}

void interval_map_end(struct interval_map *spans)
{
    free(spans->span);
    memset(spans, 0, sizeof(*spans));
}

static bool starts_at_or_below(const void *item, const void *address)
{
    return ((const struct interval *)item)->low <= *(const uint64_t *)address;
}

uint32_t interval_map_next(const struct interval_map *spans, uint64_t address, size_t *cursor)
{
    size_t at = *cursor;

    if (at == spans->count)
        at = array_lower_bound(spans->span, spans->count, sizeof(*spans->span), starts_at_or_below,
                               &address);
    while (at > 0 && spans->span[at - 1].reach > address) {
        at--;
        if (address < spans->span[at].high) {
            *cursor = at;
            return spans->span[at].value;
        }
    }
    *cursor = 0;
    return INTERVAL_NONE;
}
