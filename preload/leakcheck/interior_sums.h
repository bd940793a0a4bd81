/* interior_sums.h - counts the blocks that are held by an interior pointer, for each line of the
 * table "found" (the blocks of one site with one verdict): by the pointer's offset in the block,
 * and by the site of the block with the pointer. */
#ifndef PRELOAD_LEAKCHECK_INTERIOR_SUMS_H
#define PRELOAD_LEAKCHECK_INTERIOR_SUMS_H

#include "preload/memory/collections.h"
#include "preload/mark/reachability.h"
#include "leak_store.h"

struct interior_sums {
    struct growable_array rows; /* rows of struct leak_interior */
    /* Hash table: hash of line, offset and holder -> index + 1 in "rows"; 0: empty. */
    uint32_t *place;
};

/* Allocates the table. False: there is no memory. */
bool interior_sums_begin(struct interior_sums *sums);
/* Counts a held node (block) for line number "line" of the table "found". When the number of rows
 * has reached its limit, blocks that would need a new row are not counted. */
void interior_sums_add(struct interior_sums *sums, const struct reach *reach, uint32_t line,
                       uint32_t node);

#endif
