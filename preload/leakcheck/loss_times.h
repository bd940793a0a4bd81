/* loss_times.h - determines between which leak checks of a process blocks of a site were lost.
 *
 * Each leak check compares the lost blocks of every site with those of the check before, whose
 * result is in the recording file, and copies the times that the earlier check has found:
 *
 *     first    the first interval at whose end blocks were lost
 *     last     the last interval at whose end more blocks were lost than before
 *
 * Lost blocks stay lost, so each time is known as the interval between two checks. The two checks
 * at exit, before the exit handlers (EARLY) and after the last one (LATE), count as one check. */
#ifndef PRELOAD_LEAKCHECK_LOSS_TIMES_H
#define PRELOAD_LEAKCHECK_LOSS_TIMES_H

#include "preload/memory/collections.h"
#include "leak_store.h"

struct loss_times {
    struct growable_array rows; /* rows of struct leak_loss; none if this is the first check */
    uint64_t after_ns, now_ns;  /* when_ns of the check before this one, and of this one */
    struct loss_site {
        uint64_t before, now; /* number of lost blocks in the check before, and in this one */
        /* Times for this site: at first those of the check before, in the end those of this one;
         * first.by_ns 0: no block was lost before. */
        struct leak_loss row;
    } * site;       /* array, indexed by the number of the site */
    uint32_t sites; /* number of elements of site */
};

/* Reads the result of the last check. before: offset of its chunk in the recording file; 0: none.
 * False: there is no memory. */
bool loss_times_begin(struct loss_times *times, const struct leak_snapshot *head, uint64_t before);
/* Adds a number of lost or indirectly lost blocks of a site to those that this check has found. */
void loss_times_add(struct loss_times *times, uint32_t site, uint64_t blocks);
/* Computes "rows" from the counts, after all blocks of this check were added. */
void loss_times_finish(struct loss_times *times);

#endif
