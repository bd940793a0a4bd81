/* leak_groups.h - groups records that most likely have one cause: one entry for each bug.
 *
 * A record is one stack. One bug often leaks several: every member of an object whose destructor
 * never ran, or one line reached from two callers. Records form one entry when they have the same
 * verdict and
 *   - their user frames are in one function, called from the same stack, each with the same number
 *     of blocks;
 *   - or in one constructor, or one function that it calls, called from the same stack;
 *   - or on one line, with blocks of one size, whatever the caller, and none of these is ever
 *     freed; with blocks of any sizes if the caller's line is the same, too: such a function copies
 *     text;
 *   - or the block that owned them came from one line and one line freed it without them.
 * The fix then belongs in the function they share, or in the line that freed the owner. The records
 * themselves do not change; --apart lists them separately.
 */
#ifndef SYMBOLIZE_RECORDS_LEAK_GROUPS_H
#define SYMBOLIZE_RECORDS_LEAK_GROUPS_H

#include "common/base/arena.h"
#include "common/model/model.h"

/* Groups complete, sorted records. Each record is in exactly one entry: the sum of all entries'
 * counts is record_count. The first part is the largest. */
void leak_groups_fill(struct arena *mem, enum sort_order sort, struct process *process);

/* Does that equation hold, and are the sums those of the parts? For tests. */
bool leak_groups_check(const struct process *process);

/* Index of a part's frame in the shared function; its user frame if there is none. */
size_t leak_group_shared_frame(const struct entry *entry, const struct record *part);

/* The first part with the sums and times of all, titled by the shared function. */
struct record leak_group_sum(const struct process *process, const struct entry *entry);

#endif
