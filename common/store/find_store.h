/* find_store.h - the store of a program that is dead, for those who know only its name.
 *
 * A program under plain LD_PRELOAD that was killed left its store where the runtime leaves them,
 * and nobody said where that is. Of those that fit, the one that was begun last counts; one whose
 * process still runs only when there is no other: a service that was killed has been started again
 * by now. */
#ifndef COMMON_STORE_FIND_STORE_H
#define COMMON_STORE_FIND_STORE_H

#include "common/base/arena.h"

/* The path of the newest store of the program of that name, or of that pid; NULL for the newest of
 * all. In mem. NULL: there is none, which stderr says together with where it was looked for. */
const char *last_find(struct mem *mem, const char *wanted);

#endif
