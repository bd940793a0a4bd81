/* growth.h - does a series of live bytes grow? A pure function of the points.
 *
 * Growing means that the minima rise: a period of time is cut into equal pieces, and the minimum
 * of each must rise, by enough, until the end. So a saw-tooth does not grow (its minima stay), nor
 * does a start-up (it is over) or a single load (one rise is not enough). docs/GROWTH.md has the
 * thresholds, their reasons and their weaknesses.
 */
#ifndef COMMON_MODEL_GROWTH_H
#define COMMON_MODEL_GROWTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The verdicts on growth. V(NAME, word in reports) */
#define GROWTH_TABLE(V)                                                                            \
    V(GROWING, "growing")                                                                          \
    V(SLOW_CONSUMER, "slow-consumer")                                                              \
    V(PLATEAU, "plateau")                                                                          \
    V(SAWTOOTH, "sawtooth")                                                                        \
    V(STARTUP, "startup")                                                                          \
    V(STEADY, "steady")

enum growth_verdict {
    GROWTH_UNKNOWN = 0, /* too few points, or too short a time */
#define V(name, word) GROWTH_##name,
    GROWTH_TABLE(V)
#undef V
        GROWTH_MAX
};

extern const char *const growth_word[GROWTH_MAX];

/* A series with fewer points or seconds gets the verdict UNKNOWN; one that gains fewer bytes does
 * not count as growing. */
#define GROWTH_POINTS_LEAST 8
#define GROWTH_SECONDS_LEAST 7.0
#define GROWTH_BYTES_LEAST (16 << 10)

/* The live bytes at one time. allocs, frees and freed_age are sums since the process began. */
struct growth_point {
    double time; /* seconds since the process began, ascending */
    double bytes;
    double allocs, frees;
    double freed_age; /* sum of the lifetimes of freed blocks in seconds; 0 in all points =
                       * unknown */
};

struct growth_finding {
    enum growth_verdict verdict;
    double bytes_per_second; /* slope of a linear fit if the verdict is GROWING or SLOW_CONSUMER,
                              * else 0 */
    double from, until;      /* start and end of the period that shows the verdict, in seconds since
                              * the process began */
    double peak;             /* the largest size, in bytes */
    double kept;    /* part of the blocks allocated between `from` and `until` that were not freed;
                     * < 0: unknown */
    double settled; /* PLATEAU and STARTUP: time at which the bytes came near the peak, in seconds
                     * since the process began */
    unsigned falls; /* SAWTOOTH: number of falls */
    bool slower;    /* PLATEAU: the size still grows, but more and more slowly */
    bool one_block; /* GROWING: the number of blocks does not grow, their size does (realloc) */
    double confidence; /* 0 to 1 */
};

/* Judges a series of points in ascending time. ended: the process ended after the last point. */
struct growth_finding growth_judge(const struct growth_point *points, size_t count, bool ended);

static inline bool growth_is_growing(enum growth_verdict verdict)
{
    return verdict == GROWTH_GROWING || verdict == GROWTH_SLOW_CONSUMER;
}

#endif
