/* stacks.h - generates call stacks of a given depth, and a given number of different ones.
 *
 * A stack is a chain of calls through three functions with frames of different sizes. A path is a
 * number: four of its bits select one of sixteen call instructions at each level, so three levels
 * make 4096 different stacks, and an allocation in the innermost function has as many sites.
 */
#ifndef BENCH_STACKS_H
#define BENCH_STACKS_H

#include <stdbool.h>
#include <stdint.h>

struct stacks {
    /* number of frames, from that of `bottom` to the one that the caller of stacks_visit() has
     * called */
    unsigned depth;
    uint64_t first; /* each visit takes a random path from first to first + sites - 1 */
    uint64_t sites;
    uint64_t told_apart; /* number of different paths in all threads together */
    /* False: stacks differ in the innermost calls, as when one function allocates for many callers.
     * True: they differ in the outermost calls, so that two stacks share only few frames near the
     * root. */
    bool outer;
    uint64_t *random; /* state of random_below() */
};

/* Calls bottom(context) `times` times, each time from a random one of the stacks. */
void stacks_visit(const struct stacks *stacks, void (*bottom)(void *), void *context,
                  uint64_t times);

#endif
