/* counters.h - keeps the counters of each allocation site at one time, and computes how much they
 * have changed since then.
 *
 * A baseline holds the counters of one process at one time, by index: index i is the same site in
 * every baseline of that process, and a later baseline may have more sites.
 */
#ifndef TOP_COUNTERS_H
#define TOP_COUNTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct counters {
    uint64_t bytes, blocks; /* of the blocks that are live now */
    uint64_t allocs, frees; /* numbers of calls since the process started */
};

struct counter_delta {
    bool known;
    int64_t bytes;        /* live bytes now, minus those of the baseline */
    double allocs, frees; /* calls per second */
};

struct counter_baseline {
    double time; /* time of any monotonic clock, in seconds */
    struct counters total;
    struct counters *at;
    size_t count;
};

/* Makes a baseline with a copy of at[]; counter_baseline_free() frees it. */
struct counter_baseline counter_baseline_copy(double time, struct counters total,
                                              const struct counters *at, size_t count);
void counter_baseline_free(struct counter_baseline *baseline);

/* Return the change of site i, and of the whole process, since the baseline. A site that the
 * baseline does not have was zero then. If a number of calls is lower than in the baseline, the
 * process was changing it while it was read, and its rate is 0. */
struct counter_delta counter_delta_of(const struct counter_baseline *before, size_t i,
                                      const struct counters *now, double time);
struct counter_delta counter_delta_of_total(const struct counter_baseline *before,
                                            const struct counters *now, double time);

#endif
