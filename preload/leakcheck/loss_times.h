/* loss_times.h - between which leak checks of a process blocks were lost.
 *
 * Each leak check compares the lost blocks of every site with those of the check before, whose result
 * is in the recording file, and takes over what that one has found:
 *
 *     first    none was lost then, some are now
 *     last     more are lost now
 *
 * Lost blocks stay lost, so both are known to the interval between two checks. The check after the
 * last exit handler (LATE) belongs to the one before them (EARLY): together they count as one.
 */
#ifndef PRELOAD_LEAKCHECK_LOSS_TIMES_H
#define PRELOAD_LEAKCHECK_LOSS_TIMES_H

#include "preload/memory/collections.h"
#include "leak_store.h"

struct loss_times {
    struct growable_array rows; /* struct leak_loss; none if this is the first check */
    uint64_t after_ns, now_ns;  /* when_ns of the check before, and of this one */
    struct loss_site {
        uint64_t before, now; /* lost blocks */
        struct leak_loss row; /* by_ns 0: nothing was lost before */
    } * site;                 /* by number */
    uint32_t sites;           /* numbers are less */
};

/* Begins with the times of the last check. before: the place of that check's chunk in the recording
 * file, 0: none. False: no memory. */
bool loss_times_begin(struct loss_times *times, const struct leak_snapshot *head, uint64_t before);
/* Adds blocks of a line of "found" that are LOST or INDIRECT. */
void loss_times_add(struct loss_times *times, uint32_t site, uint64_t blocks);
/* Fills in the rows, once all blocks were added. */
void loss_times_finish(struct loss_times *times);

#endif
