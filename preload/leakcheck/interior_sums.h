/* interior_sums.h - how blocks are held that no pointer to their start holds: for each line of
 * "found", at which offset, and from blocks of which site.
 */
#ifndef PRELOAD_LEAKCHECK_INTERIOR_SUMS_H
#define PRELOAD_LEAKCHECK_INTERIOR_SUMS_H

#include "preload/memory/collections.h"
#include "preload/mark/reachability.h"
#include "leak_store.h"

struct interior_sums {
    struct growable_array rows; /* struct leak_interior */
    uint32_t *place;            /* open addressing: hash of line, offset and holder -> row + 1 */
};

/* Allocates the sums. False: no memory. */
bool interior_sums_begin(struct interior_sums *sums);
/* Adds a held node to line number "line". The rows are limited; what does not fit is left out. */
void interior_sums_add(struct interior_sums *sums, const struct reach *reach, uint32_t line,
                       uint32_t node);

#endif
