/* leak_groups.h - one bug, one entry: records whose loss has one cause, most likely.
 *
 * A record is one stack. What a program forgets once often leaves several: every member of an
 * object whose destructor never ran, or the same line reached from two callers. Records go to one
 * entry when they have the same verdict and
 *   - their user frames are in one function that was called in the same way, for as many blocks
 * each;
 *   - or in one constructor, or one function that this calls, and it was called in the same way;
 *   - or on one line, with blocks of one size, whoever called, and none of these are ever freed;
 *     blocks of any sizes, if the caller's line is the same as well: there a text is copied;
 *   - or what held them came from one line and was freed by one line, that forgot them.
 * Then what one has to look at is the function they share, or the line that freed. Each record
 * stays what it is; who wants all of them apart gets them.
 */
#ifndef SYMBOLIZE_RECORDS_LEAK_GROUPS_H
#define SYMBOLIZE_RECORDS_LEAK_GROUPS_H

#include "common/base/arena.h"
#include "common/model/model.h"

/* The records are complete and sorted, and every one is a part of exactly one entry:
 * the sum of all entries' counts is record_count. The first part is the largest. */
void entries_fill(struct mem *mem, enum sort_order sort, struct process *process);

/* Does that equation hold, and are the sums those of the parts? For tests. */
bool entries_check(const struct process *process);

/* Index of the frame of a part that is in the shared function; without one its user frame. */
size_t entries_shared(const struct entry *entry, const struct record *part);

/* The first part with the numbers and times of all, about the shared function. */
struct record entries_sum(const struct process *process, const struct entry *entry);

#endif
