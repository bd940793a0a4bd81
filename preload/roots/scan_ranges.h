/* scan_ranges.h - the memory ranges that a leak check scans for pointers, and how data of the
 * program is divided into such ranges.
 *
 * Untouched pages are not read: of a large range only pages that are present or swapped out, of a
 * mapped file only pages that the program has written (/proc/self/pagemap).
 *
 * Only for the process copy in which a leak check runs: it must not call malloc or take a lock. */
#ifndef PRELOAD_ROOTS_SCAN_RANGES_H
#define PRELOAD_ROOTS_SCAN_RANGES_H

#include "preload/mark/reachability.h"

/* The largest number of ranges; a leak check with more fails. The array takes memory only as far as
 * it is used. */
#define SCAN_RANGES_MAX (1u << (sizeof(uintptr_t) == 8 ? 20 : 16))

struct scan_range {
    uintptr_t start, end;
    /* Bounds of the object, stack or mapping that contains the range. */
    uintptr_t whole_start, whole_end;
    uint8_t root_class;
    bool starts_only; /* only pointers to the start of a block count */
    /* Number of the thread to which the range belongs: index of roots.threads; -1: none. */
    int32_t thread;
};

struct scan_ranges {
    struct scan_range *range;
    uint32_t count;
    unsigned classes; /* set of 1 << root_class; ranges of other classes are not added */
    /* Descriptor of /proc/self/pagemap; < 0: not readable, so all pages count as touched. */
    int pagemap;
};

/* Allocates the array of ranges. False: there is no memory. */
bool scan_ranges_open(struct scan_ranges *ranges, unsigned classes);
/* Adds the range [start, end), except pages that were never touched. The other members of the new
 * ranges are those of model. */
void scan_ranges_add(struct scan_ranges *ranges, uintptr_t start, uintptr_t end,
                     struct scan_range model);
/* Adds, of a private mapping of a file, the pages that the program has written. The other members
 * of the new ranges are those of model. */
void scan_ranges_add_written(struct scan_ranges *ranges, uintptr_t start, uintptr_t end,
                             struct scan_range model);
bool scan_ranges_full(const struct scan_ranges *ranges);

/* ---- Data that an allocator hands out ---------------------------------------------------------
 * An allocator that is linked into the program may return blocks from a variable. Such blocks are
 * no roots, and neither is the space between the blocks of one variable, because freed memory still
 * contains old pointers. The symbol table tells where variables begin and end; without it, the
 * space between blocks is a root, because it may be another variable.
 *
 *     variable   |head|  block  |free|  block  | rest |
 *     root       ======                        ======== */
#define DATA_ROOTS_MAX 64

struct data_roots {
    struct {
        uintptr_t start, end; /* start of the first block in the variable, end of the last one */
    } between[DATA_ROOTS_MAX];
    uint32_t count;
};

/* Finds the program's variables that contain blocks. bias: load address minus link address. Called
 * after reach_build_index. */
void data_roots_find(const struct reach *reach, uintptr_t bias, struct data_roots *out);
/* Adds the parts of [start, end) that are roots: all except blocks, and except the space between
 * the blocks of one variable. */
void data_roots_add(const struct data_roots *variables, const struct reach *reach,
                    struct scan_ranges *ranges, uintptr_t start, uintptr_t end,
                    struct scan_range model);

#endif
