/* stacks.h - generates call stacks of a given depth, and a given number of different ones.
 *
 * A stack is a chain of calls through three functions with frames of different sizes. Four bits of
 * a path select one of sixteen call instructions at each level, so three levels form 4096 different
 * stacks, and an allocation below them has as many sites.
 */
#ifndef BENCH_STACKS_H
#define BENCH_STACKS_H

#include <stdbool.h>
#include <stdint.h>

struct stacks {
    unsigned depth; /* frames from that of bottom to the one below the caller of stacks_visit */
    uint64_t first; /* each visit takes a random path of first .. first + sites - 1 */
    uint64_t sites;
    uint64_t told_apart; /* number of paths of all threads */
    /* False: stacks differ in the innermost calls, as when one function allocates for many callers.
     * True: they differ in the outermost calls, so that two stacks share
     * little more than the root. */
    bool outer;
    uint64_t *random; /* state of random_below */
};

/* Calls bottom(context) the given number of times, each time from one of the stacks. */
void stacks_visit(const struct stacks *stacks, void (*bottom)(void *), void *context,
                  uint64_t times);

#endif
