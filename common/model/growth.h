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

/* V(NAME, word) */
#define GROWTH_TABLE(V)                                                                            \
    V(GROWING, "growing")                                                                          \
    V(SLOW_CONSUMER, "slow-consumer")                                                              \
    V(PLATEAU, "plateau")                                                                          \
    V(SAWTOOTH, "sawtooth")                                                                        \
    V(STARTUP, "startup")                                                                          \
    V(STEADY, "steady")

enum growth_verdict {
    GROWTH_UNKNOWN = 0, /* too few points or too short a time */
#define V(name, word) GROWTH_##name,
    GROWTH_TABLE(V)
#undef V
        GROWTH_MAX
};

extern const char *const growth_word[GROWTH_MAX];

/* Series below these limits get the verdict UNKNOWN or "not growing". */
#define GROWTH_POINTS_LEAST 8
#define GROWTH_SECONDS_LEAST 7.0
#define GROWTH_BYTES_LEAST (16 << 10)

/* All but time and bytes are sums since the process began. */
struct growth_point {
    double time; /* seconds since the process began, ascending */
    double bytes;
    double allocs, frees;
    double freed_age; /* seconds that freed blocks lived; all 0 = unknown */
};

struct growth_finding {
    enum growth_verdict verdict;
    double bytes_per_second; /* GROWING and SLOW_CONSUMER, else 0 */
    double from, until;      /* the period that shows it */
    double peak;             /* bytes */
    double
        kept; /* share of the blocks allocated in that period that were not freed; < 0: unknown */
    double settled;    /* PLATEAU and STARTUP: when it reached its size */
    unsigned falls;    /* SAWTOOTH: number of falls */
    bool slower;       /* PLATEAU: it still grows, but more and more slowly */
    bool one_block;    /* GROWING: the same blocks grow (realloc) */
    double confidence; /* 0 to 1 */
};

/* Judges a series of points. ended: the last point is the end of the process. */
struct growth_finding growth_judge(const struct growth_point *points, size_t count, bool ended);

static inline bool growth_is_growing(enum growth_verdict verdict)
{
    return verdict == GROWTH_GROWING || verdict == GROWTH_SLOW_CONSUMER;
}

#endif
