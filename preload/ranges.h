/* ranges.h - pieces of memory that are read word by word, each with what it is part of.
 *
 * What was never touched is not read: of a large piece only the pages that are there, or swapped
 * out; of a file's only those that the program has written to (/proc/self/pagemap).
 */
#ifndef PRELOAD_RANGES_H
#define PRELOAD_RANGES_H

#include "preload/base.h"

#define RANGES_MOST (1u << 20) /* touched only as far as they are used */

struct range {
    uintptr_t start, end;
    uintptr_t whole_start, whole_end; /* of the object, stack or mapping it is part of */
    uint8_t root_class;
    bool starts_only; /* only a pointer to the start of a block counts here */
    int32_t thread;   /* place in roots.seen, -1 = none */
};

struct ranges {
    struct range *range;
    uint32_t count;
    unsigned classes; /* what else is asked for is not taken: a set of 1 << root_class */
    int pagemap;      /* < 0: cannot be read, and all counts as touched */
};

/* False: no memory. */
bool ranges_open(struct ranges *ranges, unsigned classes);
/* The words of [start, end); the rest is as the model says. */
void ranges_add(struct ranges *ranges, uintptr_t start, uintptr_t end, struct range model);
/* Of a private mapping of a file. */
void ranges_add_written(struct ranges *ranges, uintptr_t start, uintptr_t end, struct range model);
bool ranges_are_full(const struct ranges *ranges);

#endif
