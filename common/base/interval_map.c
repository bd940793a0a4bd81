/* interval_map.c - sorted address ranges that may overlap; see interval_map.h. */
#include "common/base/interval_map.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/arena.h"

void spans_add(struct spans *spans, uint64_t low, uint64_t high, uint32_t value)
{
    if (low >= high)
        return;
    spans->span = mem_more(spans->span, &spans->capacity, spans->count + 1, sizeof(*spans->span));
    spans->span[spans->count++] = (struct span){.low = low, .high = high, .value = value};
}

static int by_low(const void *left, const void *right)
{
    const struct span *a = left, *b = right;

    if (a->low != b->low)
        return a->low < b->low ? -1 : 1;
    return a->value < b->value ? -1 : a->value > b->value;
}

void spans_sort(struct spans *spans)
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

void spans_end(struct spans *spans)
{
    free(spans->span);
    memset(spans, 0, sizeof(*spans));
}

/* How many spans start at or below the address. */
static size_t starts_below(const struct spans *spans, uint64_t address)
{
    size_t low = 0, high = spans->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (spans->span[middle].low <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

uint32_t spans_next(const struct spans *spans, uint64_t address, size_t *cursor)
{
    size_t at = *cursor;

    if (at == spans->count)
        at = starts_below(spans, address);
    while (at > 0 && spans->span[at - 1].reach > address) {
        at--;
        if (address < spans->span[at].high) {
            *cursor = at;
            return spans->span[at].value;
        }
    }
    *cursor = 0;
    return SPANS_NONE;
}
