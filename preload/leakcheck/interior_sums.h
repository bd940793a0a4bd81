/* interior_sums.h - counts the blocks that are held by an interior pointer, for each line of the
 * table "found": by its offset, and by the site of the block with the pointer. */
#ifndef PRELOAD_LEAKCHECK_INTERIOR_SUMS_H
#define PRELOAD_LEAKCHECK_INTERIOR_SUMS_H

#include "preload/memory/collections.h"
#include "preload/mark/reachability.h"
#include "leak_store.h"

struct interior_sums {
    struct growable_array rows; /* rows of struct leak_interior */
    uint32_t *place; /* open addressing: hash of line, offset and holder -> index of the row + 1 */
};

/* Allocates the table. False: there is no memory. */
bool interior_sums_begin(struct interior_sums *sums);
/* Counts a held node in line number line. The number of rows is limited; if there are more, blocks
 * are left out. */
void interior_sums_add(struct interior_sums *sums, const struct reach *reach, uint32_t line,
                       uint32_t node);

#endif
