/* stacks.h - call stacks to order: so deep, and so many different ones.
 *
 * A stack is a chain of calls through three functions with frames of different sizes; each level is
 * called from one of sixteen places in its caller, chosen by four bits of a path. So three levels
 * tell 4096 stacks apart, and the sites of an allocation below them are as many.
 */
#ifndef BENCH_STACKS_H
#define BENCH_STACKS_H

#include <stdbool.h>
#include <stdint.h>

struct stacks {
    unsigned depth; /* frames from bottom's up to the one below the caller of stacks_visit */
    uint64_t first; /* paths first .. first + sites - 1 are gone, each time a random one */
    uint64_t sites;
    uint64_t told_apart; /* number of paths of all threads */
    /* False: stacks differ in the innermost calls, as when one function allocates for many callers.
     * True: they differ in the outermost calls, so that two stacks share
     * little more than the root. */
    bool outer;
    uint64_t *random; /* state of random_below */
};

/* Calls bottom(context) so many times, each time from one of the stacks. */
void stacks_visit(const struct stacks *stacks, void (*bottom)(void *), void *context,
                  uint64_t times);

#endif
