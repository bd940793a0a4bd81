/* site_totals.h - the current totals of the sites, of the process, of a thread, of a tag: sums over
 * the folded counters (sites.h) and the slots of all threads (thread_counters.h).
 *
 * Adding up all sites takes time in proportion to the number of sites and slots, about 3 ns each,
 * so callers limit how often they call. Counts that another thread moves from its slots to a site
 * meanwhile (a fold) may be counted twice or not at all; site_totals_read_site and the totals_
 * functions detect that and try again.
 */
#ifndef PRELOAD_HEAP_SITE_TOTALS_H
#define PRELOAD_HEAP_SITE_TOTALS_H

#include "preload/base/reentry_guard.h"
#include "leak_store.h"

/* The live blocks of one site. There is one such structure for each site, so it is compact:
 * "blocks" is exact only below 2^31. */
struct site_total {
    uint64_t bytes;
    uint32_t blocks;
    uint32_t before; /* bytes at the last choice of columns, packed by timeline.c */
};

struct site_totals {
    struct site_total *at; /* live blocks of site i at element i; sites are numbered from 1 */
    uint32_t room;         /* number of elements of "at" */
    uint32_t last;         /* number of the last site when the totals were computed */
    struct {
        uint64_t bytes, blocks;
    } all;
    uint32_t threads;
    uint64_t work; /* number of sites and slots that were read for the totals */
};

/* Computes the totals of all sites. False: no memory. The next call with the same *totals reuses
 * its array. */
bool site_totals_compute(struct guard *guard, struct site_totals *totals);

/* Returns the exact counts of one site. False: during each of several attempts a thread has folded
 * counts into the site. */
bool site_totals_read_site(struct guard *guard, uint32_t site, struct leak_counts *counts);

/* One site in a list of the largest sites, which site_totals_keep_largest fills. The list is a
 * binary heap, so its first element is the smallest of these sites. */
struct site_rank {
    uint32_t site;
    uint64_t size;
};
/* Adds a site to the list "top" of "count" sites, if it is larger than the smallest one there, or
 * if the list has fewer than "room" sites. Returns the number of sites in the list. */
size_t site_totals_keep_largest(struct site_rank *top, size_t count, size_t room, uint32_t site,
                                uint64_t size);

/* Returns the totals of the process. They are exact when the other threads do not allocate or free
 * meanwhile. */
struct leak_counts totals_of_process(struct guard *guard);
struct leak_counts totals_of_tag(struct guard *guard, unsigned tag);
/* Returns the totals of the calling thread: its folded counts plus the sum of its slots. They are
 * exact, because only this thread writes them. False: there is no memory, or the thread is at its
 * end and uses counters that it shares with others (the stand-in). */
bool totals_of_thread(struct guard *guard, struct leak_counts *out);

#endif
