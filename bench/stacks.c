/* stacks.c - makes call stacks of a given depth; described in stacks.h. */
#include "bench/stacks.h"
#include "bench/common.h"

#define WAYS_BITS 4

struct bottom {
    void (*function)(void *context);
    void *context;
};

typedef void level_function(const struct bottom *bottom, unsigned left, uint64_t path);
static level_function level_small, level_middle, level_large;

/* The assembly makes the sixteen calls different. Otherwise the compiler would merge them, or turn
 * one into a jump, which leaves no frame. */
#define WAY(next, number)                                                                          \
    case number:                                                                                   \
        if (left > 1)                                                                              \
            next(bottom, left - 1, path >> WAYS_BITS);                                             \
        else                                                                                       \
            bottom->function(bottom->context);                                                     \
        __asm__ volatile("# way %0" ::"i"(number));                                                \
        break;

#define FOUR_WAYS(next, number)                                                                    \
    WAY(next, number) WAY(next, number + 1) WAY(next, number + 2) WAY(next, number + 3)

/* Defines the function of a level. The lowest bits of the path select the call of the outermost
 * level. */
#define LEVEL(name, next, bytes)                                                                   \
    __attribute__((noinline)) static void name(const struct bottom *bottom, unsigned left,         \
                                               uint64_t path)                                      \
    {                                                                                              \
        char room[bytes];                                                                          \
        __asm__ volatile("" ::"r"(room) : "memory");                                               \
        switch (path & 15) {                                                                       \
            FOUR_WAYS(next, 0)                                                                     \
            FOUR_WAYS(next, 4)                                                                     \
            FOUR_WAYS(next, 8)                                                                     \
            FOUR_WAYS(next, 12)                                                                    \
        }                                                                                          \
        __asm__ volatile("" ::"r"(room) : "memory");                                               \
    }

LEVEL(level_small, level_middle, 8)
LEVEL(level_middle, level_large, 40)
LEVEL(level_large, level_small, 120)

static inline void descend(const struct bottom *bottom, unsigned levels, uint64_t path)
{
    if (levels)
        level_small(bottom, levels, path);
    else
        bottom->function(bottom->context);
}

struct journey {
    const struct stacks *stacks;
    struct bottom bottom;
    unsigned levels;
    uint64_t times;
};

/* Makes `times` visits, each through one random stack below this function. */
__attribute__((noinline)) static void go_repeatedly(void *context)
{
    const struct journey *journey = context;
    const struct stacks *stacks = journey->stacks;
    for (uint64_t left = journey->times; left; left--) {
        uint64_t path = stacks->first;
        if (stacks->sites > 1)
            path += random_below(stacks->random, stacks->sites);
        descend(&journey->bottom, journey->levels, path);
    }
}

static unsigned levels_for(uint64_t paths)
{
    unsigned levels = 0;
    for (uint64_t told_apart = 1; told_apart < paths; told_apart <<= WAYS_BITS)
        levels++;
    return levels;
}

void stacks_visit(const struct stacks *stacks, void (*bottom)(void *), void *context,
                  uint64_t times)
{
    unsigned telling = levels_for(stacks->told_apart);
    unsigned above = telling + 2; /* the frames of `bottom` and of go_repeatedly() */
    struct journey journey = {stacks, {bottom, context}, telling, times};
    struct bottom outer = {go_repeatedly, &journey};
    if (stacks->depth < telling + 1) {
        fprintf(stderr, "stacks: %u frames cannot tell so many sites apart\n", stacks->depth);
        exit(2);
    }
    if (stacks->outer || stacks->depth < above) {
        journey.levels = stacks->depth - 1;
        descend(&outer, 0, 0);
    } else {
        descend(&outer, stacks->depth - above, 0);
    }
}
