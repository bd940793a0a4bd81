/* growth.h - does it grow? A pure function of what was counted from time to time.
 *
 * Growing means that what is there at the quietest moments becomes more and more: a stretch of time
 * is cut into pieces, and the least of each must rise, by enough, and to the end. So a saw-tooth is
 * not growing (its least stays), nor is a start-up (it is over) or a single load (one rise is
 * none). docs/GROWTH.md has the thresholds with their reasons, and what is weak.
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
    GROWTH_UNKNOWN = 0, /* too short a time to say */
#define V(name, word) GROWTH_##name,
    GROWTH_TABLE(V)
#undef V
        GROWTH_MAX
};

extern const char *const growth_word[GROWTH_MAX];

/* Less than this nobody can judge. */
#define GROWTH_POINTS_LEAST 8
#define GROWTH_SECONDS_LEAST 7.0
#define GROWTH_BYTES_LEAST (16 << 10)

/* All but the time and the bytes are sums since the beginning. */
struct growth_point {
    double time; /* seconds since the process began, ascending */
    double bytes;
    double allocs, frees;
    double freed_age; /* seconds that the freed ones lived; all 0 = not known */
};

struct growth_finding {
    enum growth_verdict verdict;
    double bytes_per_second; /* GROWING and SLOW_CONSUMER, else 0 */
    double from, until;      /* the stretch of time that shows it */
    double peak;             /* bytes */
    double kept;       /* share of what was allocated in that stretch and not freed; < 0: unknown */
    double settled;    /* PLATEAU and STARTUP: at that time it was as large as it became */
    unsigned falls;    /* SAWTOOTH: how often it fell */
    bool slower;       /* PLATEAU: it still grows, but less and less */
    bool one_block;    /* GROWING: the same blocks become larger */
    double confidence; /* 0 to 1 */
};

struct growth_finding growth_judge(const struct growth_point *points, size_t count);

static inline bool growth_grows(enum growth_verdict verdict)
{
    return verdict == GROWTH_GROWING || verdict == GROWTH_SLOW_CONSUMER;
}

#endif
