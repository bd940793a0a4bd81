/* interval_map.h - which of many address ranges contain an address.
 *
 * An array of ranges sorted by start. Each range also stores the highest end of all ranges up to
 * it, so that overlapping ranges (generations of unloaded libraries, dead functions left at
 * address 0) are all found and a search still stops early.
 */
#ifndef COMMON_BASE_INTERVAL_MAP_H
#define COMMON_BASE_INTERVAL_MAP_H

#include <stddef.h>
#include <stdint.h>

struct interval {
    uint64_t low, high; /* the addresses of the range: low <= address < high */
    uint64_t reach;     /* highest `high` of this range and all before it; interval_map_sort()
                         * computes it */
    uint32_t value;     /* number by which the caller knows the range */
};

struct interval_map {
    struct interval *span;
    size_t count, capacity;
};

#define INTERVAL_NONE UINT32_MAX

void interval_map_add(struct interval_map *spans, uint64_t low, uint64_t high, uint32_t value);
/* Sorts the ranges. Call it once, after the last add and before the first search. */
void interval_map_sort(struct interval_map *spans);
void interval_map_end(struct interval_map *spans);

/* Iterates over the ranges that contain an address, the highest start first. *cursor starts as
 * spans->count. Returns the value of the next range, or INTERVAL_NONE after the last one. */
uint32_t interval_map_next(const struct interval_map *spans, uint64_t address, size_t *cursor);

#endif
