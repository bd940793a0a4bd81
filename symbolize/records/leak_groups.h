/* leak_groups.h - groups records that most likely have one cause: one entry for each bug.
 *
 * A record is one stack. One bug often leaks blocks of several stacks: every member of an object
 * whose destructor never ran, or one line that two callers reach. Records form one entry when they
 * have the same verdict and
 *   - their user frames are in one function, called from the same stack, each with the same number
 *     of blocks;
 *   - or in one constructor, or one function that it calls, called from the same stack;
 *   - or on one line, with blocks of one size, whatever the caller, and no block of that line is
 *     ever freed; with blocks of any sizes if the caller's line is the same, too, because such a
 *     function copies text;
 *   - or the blocks that owned them were allocated in one line and freed in one line, which did not
 *     free what they owned.
 * The fix then belongs in the function that the records share, or in the line that freed the owner.
 * The records themselves do not change; --apart lists them separately.
 */
#ifndef SYMBOLIZE_RECORDS_LEAK_GROUPS_H
#define SYMBOLIZE_RECORDS_LEAK_GROUPS_H

#include "common/base/arena.h"
#include "common/model/model.h"

/* Groups the records of a process, which must be complete and sorted, into entries. Each record is
 * in exactly one entry: the sum of entry.count over all entries is record_count. The first part of
 * an entry is its largest record. */
void leak_groups_fill(struct arena *mem, enum sort_order sort, struct process *process);

/* Checks, for tests, that each record is in exactly one entry, and that the sums of an entry are
 * those of its parts. */
bool leak_groups_check(const struct process *process);

/* Returns the index of the part's frame in the function that all parts share; of its user frame if
 * they share none. */
size_t leak_group_shared_frame(const struct entry *entry, const struct record *part);

/* Returns the first part of an entry with the sums and times of all parts; its title is the shared
 * function. */
struct record leak_group_sum(const struct process *process, const struct entry *entry);

#endif
