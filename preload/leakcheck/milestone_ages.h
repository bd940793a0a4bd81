/* milestone_ages.h - of each line of a look: how much came since which milestone.
 *
 *     a line's blocks = older than all milestones + sum over milestones of what came since it
 *                       and before the next one
 */
#ifndef PRELOAD_LEAKCHECK_MILESTONE_AGES_H
#define PRELOAD_LEAKCHECK_MILESTONE_AGES_H

#include "preload/heap/blocks.h"
#include "preload/base/containers.h"
#include "preload/track/milestones.h"

struct ages {
    struct leak_milestone milestone[LEAK_MILESTONES]; /* by tick */
    uint32_t count;
    uint64_t inherited; /* sites up to here have blocks with the ticks of another process */
    struct ages_sum {
        uint64_t blocks, bytes;
    } * sum; /* of each line and milestone */
};

/* False: no memory. */
bool ages_begin(struct ages *ages, uint32_t lines_most);
void ages_note(struct ages *ages, uint32_t line, const struct block *block);

static inline void ages_add(struct ages *ages, uint32_t line, const struct block *block)
{
    if (unlikely(ages->count) && block->tick >= ages->milestone[0].tick &&
        block->site > ages->inherited)
        ages_note(ages, line, block);
}

/* struct leak_age, of so many lines. */
void ages_tell(const struct ages *ages, uint32_t lines, struct growable_array *out);

#endif
