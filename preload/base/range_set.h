/* range_set.h - which ranges of addresses are there, and what is left when a piece of them goes.
 *
 * An array sorted by falling start: the kernel maps downwards, so a new range mostly goes to the
 * end. Ranges do not overlap; one that is put over others takes their place. A piece cut out of a
 * range leaves none, one or two. Not locked; the caller's memory.
 */
#ifndef PRELOAD_BASE_RANGE_SET_H
#define PRELOAD_BASE_RANGE_SET_H

#include "preload/base/base.h"

struct range {
    uintptr_t start, end;
    uint32_t number; /* the caller's name for it */
};

struct ranges {
    struct range *at;
    uint32_t count, room;
};

/* What a cut did to a range: what is left of it below and above; both empty: it is gone. The answer
 * is the name for the upper part, when there are two; 0 = let it go. */
typedef uint32_t ranges_left(const struct range *was, const struct range *below,
                             const struct range *above, void *context);

/* Cuts [start, end) out of every range. */
void ranges_cut(struct ranges *ranges, uintptr_t start, uintptr_t end, ranges_left *left,
                void *context);
/* Nothing may be there. False: no room. */
bool ranges_put(struct ranges *ranges, uintptr_t start, uintptr_t end, uint32_t number);
/* The range around an address, or NULL. */
const struct range *ranges_around(const struct ranges *ranges, uintptr_t address);

/* Sorted, not empty, not overlapping. */
bool ranges_check(const struct ranges *ranges);

#endif
