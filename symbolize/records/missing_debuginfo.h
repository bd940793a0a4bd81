/* missing_debuginfo.h - modules whose frames could not be named in full: which, why, and what
 * helps. */
#ifndef SYMBOLIZE_RECORDS_MISSING_DEBUGINFO_H
#define SYMBOLIZE_RECORDS_MISSING_DEBUGINFO_H

#include "common/base/hashmap.h"
#include "common/base/arena.h"
#include "common/model/model.h"

/* modules: values are the struct resolved_module * of all stacks that are shown. */
void blind_fill(struct mem *mem, const struct map *modules, struct process *process);

#endif
