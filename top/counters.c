/* counters.c - computes changes of counters; described in counters.h. */
#include "top/counters.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/arena.h"

struct counter_baseline counter_baseline_copy(double time, struct counters total,
                                              const struct counters *at, size_t count)
{
    struct counter_baseline baseline = {.time = time, .total = total, .count = count};

    baseline.at = array_grow(NULL, &(size_t){0}, count + 1, sizeof(*at));
    if (count)
        memcpy(baseline.at, at, count * sizeof(*at));
    return baseline;
}

void counter_baseline_free(struct counter_baseline *baseline)
{
    free(baseline->at);
    *baseline = (struct counter_baseline){0};
}

static double events_per_second(uint64_t before, uint64_t now, double seconds)
{
    return now > before ? (double)(now - before) / seconds : 0;
}

static struct counter_delta delta_between(const struct counters *before, const struct counters *now,
                                          double seconds)
{
    if (seconds <= 0)
        return (struct counter_delta){0};
    return (struct counter_delta){.known = true,
                                  .bytes = (int64_t)(now->bytes - before->bytes),
                                  .allocs = events_per_second(before->allocs, now->allocs, seconds),
                                  .frees = events_per_second(before->frees, now->frees, seconds)};
}

struct counter_delta counter_delta_of(const struct counter_baseline *before, size_t i,
                                      const struct counters *now, double time)
{
    static const struct counters nothing;

    return delta_between(i < before->count ? &before->at[i] : &nothing, now, time - before->time);
}

struct counter_delta counter_delta_of_total(const struct counter_baseline *before,
                                            const struct counters *now, double time)
{
    return delta_between(&before->total, now, time - before->time);
}
