/* scan_ranges.h - the memory ranges that are scanned for pointers, and how data of the program is
 * cut into them.
 *
 * Untouched pages are not read: of a large range only pages that are present or swapped out, of a
 * mapped file only pages that the program has written (/proc/self/pagemap).
 *
 * For the process of a leak check only: nothing is allocated from malloc, no lock is taken.
 */
#ifndef PRELOAD_ROOTS_SCAN_RANGES_H
#define PRELOAD_ROOTS_SCAN_RANGES_H

#include "preload/mark/reachability.h"

#define SCAN_RANGES_MAX                                                                            \
    (1u << (sizeof(uintptr_t) == 8 ? 20 : 16)) /* memory is touched only as far as it is used */

struct scan_range {
    uintptr_t start, end;
    uintptr_t whole_start, whole_end; /* of the object, stack or mapping that contains it */
    uint8_t root_class;
    bool starts_only; /* only pointers to the start of a block count */
    int32_t thread;   /* index of roots.threads, -1 = none */
};

struct scan_ranges {
    struct scan_range *range;
    uint32_t count;
    unsigned classes; /* a set of 1 << root_class; ranges of other classes are not added */
    int pagemap;      /* < 0: unreadable, and all pages count as touched */
};

/* Allocates the ranges. False: no memory. */
bool scan_ranges_open(struct scan_ranges *ranges, unsigned classes);
/* Adds the words of [start, end); the other fields are the model's. */
void scan_ranges_add(struct scan_ranges *ranges, uintptr_t start, uintptr_t end,
                     struct scan_range model);
/* The same for a private mapping of a file. */
void scan_ranges_add_written(struct scan_ranges *ranges, uintptr_t start, uintptr_t end,
                             struct scan_range model);
bool scan_ranges_full(const struct scan_ranges *ranges);

/* ---- Data that an allocator hands out ---------------------------------------------------------
 * An allocator that is linked into the program may return blocks from a variable. Blocks are no
 * roots, nor is the space between the blocks of one variable: freed memory still holds old
 * pointers. The variables are read from the symbol table; without one, the space between blocks is
 * a root, since it may be another variable.
 *
 *     variable   |head|  block  |free|  block  | rest |
 *     root       ======                        ========
 */
#define DATA_ROOTS_MAX 64

struct data_roots {
    struct {
        uintptr_t start, end; /* start of its first block, end of its last one */
    } between[DATA_ROOTS_MAX];
    uint32_t count;
};

/* Finds the program's variables that contain blocks. bias: load address minus link address. Call
 * after reach_build_index. */
void data_roots_find(const struct reach *reach, uintptr_t bias, struct data_roots *out);
/* Adds the parts of [start, end) that are roots. */
void data_roots_add(const struct data_roots *variables, const struct reach *reach,
                    struct scan_ranges *ranges, uintptr_t start, uintptr_t end,
                    struct scan_range model);

#endif
