/* site_totals.h - what every site holds at this moment, summed from the sites and the slots of all
 * threads.
 *
 * Takes time in proportion to both, some 3 ns each, so whoever calls it thinks of how often. A fold
 * that another thread is at meanwhile may count once too often or once too little; tally_site asks
 * again until it does not.
 */
#ifndef PRELOAD_HEAP_SITE_TOTALS_H
#define PRELOAD_HEAP_SITE_TOTALS_H

#include "preload/base/reentry_guard.h"
#include "leak_store.h"

/* One for each site, so it is small: blocks are exact below 2^31. */
struct tally_sum {
    uint64_t bytes;
    uint32_t blocks;
    uint32_t before; /* the caller's own */
};

struct tally {
    struct tally_sum *at; /* by site, 0 is nobody's */
    uint32_t room;        /* sites it can take */
    uint32_t last;        /* the last site then */
    struct {
        uint64_t bytes, blocks;
    } all;
    uint32_t threads;
    uint64_t work; /* sites and slots that were read */
};

/* False: no memory. The tally's own memory is kept for the next time. */
bool tally_take(struct guard *guard, struct tally *tally);

/* The exact counts of one site; false: it was being folded all the time. */
bool tally_site(struct guard *guard, uint32_t site, struct leak_counts *counts);

/* A list of the largest, filled by tally_keep: a heap, the smallest first. */
struct tally_top {
    uint32_t site;
    uint64_t size;
};
/* Returns the new count. */
size_t tally_keep(struct tally_top *top, size_t count, size_t room, uint32_t site, uint64_t size);

#endif
