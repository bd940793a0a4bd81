/* time_window.h - a store seen through a window of time: what came since one milestone, or between
 * two.
 *
 * The last look counted by milestones what it found; what is not in the window is no part of any
 * record. A milestone is named by its mark's name (of equal ones the newest), or "#3" for number 3.
 * Who names none sees what came since the newest one that the program has said all to be known at.
 */
#ifndef COMMON_STORE_TIME_WINDOW_H
#define COMMON_STORE_TIME_WINDOW_H

#include "common/store/store.h"

struct since {
    const char *from, *until; /* NULL = from the start; to the end */
    bool known;               /* with neither: also what the program has marked as known */
};

/* False: there is no such milestone, or no look after it; *words says so and what to do. */
bool since_apply(struct store *store, const struct since *since, char *words, size_t size);

#endif
