/* counters.h - what was counted of each allocation site at one time, and how much it changed since.
 *
 * A baseline holds the counters of one process at one time, by index: index i is the same site in
 * every baseline of that process, and a later baseline may know more sites. Pure functions.
 */
#ifndef TOP_COUNTERS_H
#define TOP_COUNTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct counters {
    uint64_t bytes, blocks; /* live */
    uint64_t allocs, frees; /* since the process started */
};

struct counter_delta {
    bool known;
    int64_t bytes;        /* live bytes now, less those of the baseline */
    double allocs, frees; /* per second */
};

struct counter_baseline {
    double time; /* seconds, of any monotonic clock */
    struct counters total;
    struct counters *at;
    size_t count;
};

/* Copies at[]; counter_baseline_free releases the copy. */
struct counter_baseline counter_baseline_copy(double time, struct counters total,
                                              const struct counters *at, size_t count);
void counter_baseline_free(struct counter_baseline *baseline);

/* The change of site i; a site that the baseline does not know was zero then. A count of events
 * that is lower than before was read while the process moved it: its rate is 0. */
struct counter_delta counter_delta_of(const struct counter_baseline *before, size_t i,
                                      const struct counters *now, double time);
struct counter_delta counter_delta_of_total(const struct counter_baseline *before,
                                            const struct counters *now, double time);

#endif
