/* fork_snapshot.h - the process is copied at one moment, and the copy looks (leak_check.h).
 *
 * Best is that all others stand. Where they cannot be held two copies of the running program are
 * made, one after the other, and only what both find counts.
 *
 * The caller has blocked all signals: the program's handlers would run while others stand, who may
 * hold what they need.
 */
#ifndef PRELOAD_LEAKCHECK_FORK_SNAPSHOT_H
#define PRELOAD_LEAKCHECK_FORK_SNAPSHOT_H

#include "preload/leakcheck/leak_check.h"

/* What the child will tell: for every block there is, if notes are wanted. NULL: no memory. */
struct look_result *picture_make_result(bool notes, size_t *size);
void picture_drop_result(struct look_result *result, size_t size);

/* The child's pid; -errno: there can be none; 0: somebody could not be held. */
int picture_take_parked(struct look_order *order);
/* The child's pid, or what is below 0, and perhaps the trouble that the first copy had. */
int picture_take_running(struct look_order *order, enum leak_trouble *trouble);

/* Waits until its words are there, or says why they are not. */
enum leak_trouble picture_wait(int pid, struct look_result *result);

#endif
