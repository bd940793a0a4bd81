/* referrers.h - who points at one block: every word of the roots and of all blocks is asked.
 */
#ifndef PRELOAD_LEAKCHECK_REFERRERS_H
#define PRELOAD_LEAKCHECK_REFERRERS_H

#include "preload/base/containers.h"
#include "preload/leakcheck/root_owners.h"

/* struct leak_pointer, to out: at most LEAK_POINTERS. */
void pointers_find(struct held *held, const struct block *block, struct growable_array *out);

#endif
