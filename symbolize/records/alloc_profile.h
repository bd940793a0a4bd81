/* alloc_profile.h - what each stack allocated in all, whether it lives or not.
 *
 * Records are about what lives; a profile of allocations is about everything. Naming all the stacks
 * of a store costs more than naming those of its records, so it is done only for formats that want
 * it.
 */
#ifndef SYMBOLIZE_RECORDS_ALLOC_PROFILE_H
#define SYMBOLIZE_RECORDS_ALLOC_PROFILE_H

#include "common/model/model.h"
#include "common/names/resolve.h"
#include "common/store/store.h"

/* What a fork child has from its parent was allocated there, and is left out. */
void allocated_fill(struct mem *mem, struct resolver *resolver, const struct store *store,
                    struct process *process);

#endif
