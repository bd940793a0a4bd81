/* site_totals.h - the current totals of the sites, of the process, of a thread, of a tag: sums over
 * the folded counters (sites.h) and the slots of all threads (thread_counters.h).
 *
 * Takes time in proportion to the number of sites and slots, some 3 ns each, so callers limit how
 * often. A fold that another thread makes meanwhile may be counted twice or not at all;
 * site_totals_read_site and the totals_ functions detect that and try again.
 */
#ifndef PRELOAD_HEAP_SITE_TOTALS_H
#define PRELOAD_HEAP_SITE_TOTALS_H

#include "preload/base/reentry_guard.h"
#include "leak_store.h"

/* The live blocks of one site. There is one structure for each site, so it is compact: blocks are
 * exact below 2^31. */
struct site_total {
    uint64_t bytes;
    uint32_t blocks;
    uint32_t before; /* the caller's own */
};

struct site_totals {
    struct site_total *at; /* by site, from 1 on */
    uint32_t room;         /* capacity of the array */
    uint32_t last;         /* the last site at that time */
    struct {
        uint64_t bytes, blocks;
    } all;
    uint32_t threads;
    uint64_t work; /* sites and slots that were read */
};

/* Computes all of them. False: no memory. The array is reused by the next call. */
bool site_totals_compute(struct guard *guard, struct site_totals *totals);

/* The exact counts of one site; false: the site was folded during each of several attempts. */
bool site_totals_read_site(struct guard *guard, uint32_t site, struct leak_counts *counts);

/* A list of the largest sites, filled by site_totals_keep_largest: a binary heap, the smallest
 * first. */
struct site_rank {
    uint32_t site;
    uint64_t size;
};
/* Returns the new count. */
size_t site_totals_keep_largest(struct site_rank *top, size_t count, size_t room, uint32_t site,
                                uint64_t size);

/* Exact when the other threads stand still, else not of one moment. */
struct leak_counts totals_of_process(struct guard *guard);
/* The allocations with that tag. */
struct leak_counts totals_of_tag(struct guard *guard, unsigned tag);
/* The calling thread's: folded + the sum of its slots; exact, since only the thread writes them.
 * False: the thread is at its end and shares the stand-in's counters, or there was no memory. */
bool totals_of_thread(struct guard *guard, struct leak_counts *out);

#endif
