/* scan_ranges.h - pieces of memory that are read word by word, each with what it is part of.
 *
 * What was never touched is not read: of a large piece only the pages that are there, or swapped
 * out; of a file's only those that the program has written to (/proc/self/pagemap).
 */
#ifndef PRELOAD_ROOTS_SCAN_RANGES_H
#define PRELOAD_ROOTS_SCAN_RANGES_H

#include "preload/base/base.h"

#define PIECES_MOST (1u << 20) /* touched only as far as they are used */

struct piece {
    uintptr_t start, end;
    uintptr_t whole_start, whole_end; /* of the object, stack or mapping it is part of */
    uint8_t root_class;
    bool starts_only; /* only a pointer to the start of a block counts here */
    int32_t thread;   /* place in roots.seen, -1 = none */
};

struct pieces {
    struct piece *piece;
    uint32_t count;
    unsigned classes; /* what else is asked for is not taken: a set of 1 << root_class */
    int pagemap;      /* < 0: cannot be read, and all counts as touched */
};

/* False: no memory. */
bool pieces_open(struct pieces *pieces, unsigned classes);
/* The words of [start, end); the rest is as the model says. */
void pieces_add(struct pieces *pieces, uintptr_t start, uintptr_t end, struct piece model);
/* Of a private mapping of a file. */
void pieces_add_written(struct pieces *pieces, uintptr_t start, uintptr_t end, struct piece model);
bool pieces_are_full(const struct pieces *pieces);

#endif
