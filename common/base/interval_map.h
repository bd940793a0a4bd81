/* interval_map.h - which of many address ranges contain this address?
 *
 * An array sorted by start, with the highest end of everything up to each entry beside it, so that
 * overlapping ranges (generations of unloaded libraries, dead functions left at address 0) are all
 * found and a search still stops early.
 */
#ifndef COMMON_BASE_INTERVAL_MAP_H
#define COMMON_BASE_INTERVAL_MAP_H

#include <stddef.h>
#include <stdint.h>

struct span {
    uint64_t low, high; /* low <= address < high */
    uint64_t reach;     /* highest `high` of this and all before it; set by spans_sort() */
    uint32_t value;     /* the owner's number for it */
};

struct spans {
    struct span *span;
    size_t count, capacity;
};

#define SPANS_NONE UINT32_MAX

void spans_add(struct spans *spans, uint64_t low, uint64_t high, uint32_t value);
void spans_sort(struct spans *spans); /* once, after the last add and before the first search */
void spans_end(struct spans *spans);

/* The ranges around an address, the one with the highest start first. *cursor starts as
 * spans->count; the result is the value, or SPANS_NONE when there is no further one. */
uint32_t spans_next(const struct spans *spans, uint64_t address, size_t *cursor);

#endif
