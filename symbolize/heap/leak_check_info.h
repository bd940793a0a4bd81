/* leak_check_info.h - how the last look at the heap was made, and which threads it saw. */
#ifndef SYMBOLIZE_HEAP_LEAK_CHECK_INFO_H
#define SYMBOLIZE_HEAP_LEAK_CHECK_INFO_H

#include "common/model/model.h"
#include "common/names/resolve.h"
#include "common/store/store.h"

/* Fills in look, threads and milestones of a process. */
void looks_fill(struct mem *mem, struct resolver *resolver, const struct store *store,
                struct process *process);

/* What to say of a look that could not be made, NULL when there is nothing to say. */
const char *looks_missing(struct mem *mem, const struct store *store);

#endif
