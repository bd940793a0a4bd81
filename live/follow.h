/* follow.h - being nothing but a shell's view of the program, while it runs.
 *
 * To whoever started leakrun, leakwatch stands for the program: signals sent to leakwatch reach the
 * program, a stop of the program stops leakwatch, and leakwatch ends when (and as) it ended.
 * Signals the kernel sends from the terminal go to the whole process group, so the program has them
 * already and leakwatch only survives them. */
#ifndef LIVE_FOLLOW_H
#define LIVE_FOLLOW_H

#include "live/child.h"

/* Returns the child's wait status; signals must be blocked (child_block_signals). */
int follow_child(const struct child *child);

/* Ends leakwatch as wait_status says: the same status, or by the same signal without a core. */
void follow_into_the_end(int wait_status) __attribute__((noreturn));

#endif
