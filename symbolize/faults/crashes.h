/* crashes.h - how a process crashed: names for the stack, and for what lies near. */
#ifndef SYMBOLIZE_FAULTS_CRASHES_H
#define SYMBOLIZE_FAULTS_CRASHES_H

#include "common/model/model.h"
#include "common/names/resolve.h"
#include "common/store/store.h"

/* A crash counts as an error in the process's totals; its end is known by then. */
void crashes_fill(struct mem *mem, struct resolver *resolver, const struct store *store,
                  struct process *process);
/* Without what differs from run to run. */
void crashes_make_stable(struct process *process);

#endif
