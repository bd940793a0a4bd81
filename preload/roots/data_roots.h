/* data_roots.h - data of an object as a root, where an allocator gives out blocks from it.
 *
 * An allocator that is linked into the program may have its memory in a variable of it. Blocks are
 * no roots, nor is what lies between the blocks of one variable: what has been freed there still
 * holds what the program had written. Which variables there are is read from the file; where it
 * does not say, what is between blocks is a root, for it may be another variable.
 *
 *     variable   |head|  block  |free|  block  | rest |
 *     root       ======                        ========
 *
 * For the child of a look alone: nothing is allocated, no lock is taken.
 */
#ifndef PRELOAD_ROOTS_DATA_ROOTS_H
#define PRELOAD_ROOTS_DATA_ROOTS_H

#include "preload/roots/scan_ranges.h"
#include "preload/mark/reachability.h"

#define VARIABLES_MOST 64

struct variables {
    struct {
        uintptr_t start, end; /* of its first block, of its last one */
    } between[VARIABLES_MOST];
    uint32_t count;
};

/* Those of the program; bias: where it is, less where it was linked for. After reach_index. */
void variables_find(const struct reach *reach, uintptr_t bias, struct variables *out);
/* Adds to the pieces what is a root of [start, end). */
void variables_add(const struct variables *variables, const struct reach *reach,
                   struct pieces *pieces, uintptr_t start, uintptr_t end, struct piece model);

#endif
