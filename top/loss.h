/* loss.h - what of each name is lost: what the last look at the heap found so, as far as it lives
 * still. What is suppressed, what the C and C++ libraries keep, and what a fork child was handed
 * down is left out: the sums are those of leakreport's last line.
 */
#ifndef TOP_LOSS_H
#define TOP_LOSS_H

#include "common/suppress/suppress.h"
#include "top/names.h"

struct lost {
    uint64_t bytes, blocks;
    uint64_t indirect_bytes, indirect_blocks; /* lost with their owner */
};

/* By name, in mem. NULL: there was no look. The sites are learnt; suppressions are turned to the
 * store here. */
struct lost *loss_by_name(struct arena *mem, const struct names *names, const struct store *store,
                          struct suppressions *suppressions, uint64_t now_ns);

void loss_add(struct lost *sum, const struct lost *one);

#endif
