/* blind.h - modules whose frames could not be named in full: which, why, and what helps. */
#ifndef SYMBOLIZE_BLIND_H
#define SYMBOLIZE_BLIND_H

#include "symbolize/map.h"
#include "symbolize/mem.h"
#include "symbolize/model.h"

/* modules: values are the struct resolved_module * of all stacks that are shown. */
void blind_fill(struct mem *mem, const struct map *modules, struct process *process);

#endif
