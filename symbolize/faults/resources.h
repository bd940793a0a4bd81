/* resources.h - what a process left open besides memory: descriptors, streams, threads ...
 *
 * Told is what it opened itself and what is open still: not the standard descriptors, not what was
 * handed down to it, not the descriptor of a stream that is told. Records of one kind whose stacks
 * have the same names are one. A process that ended by exec has handed on what it meant to.
 */
#ifndef SYMBOLIZE_FAULTS_RESOURCES_H
#define SYMBOLIZE_FAULTS_RESOURCES_H

#include "common/model/model.h"
#include "common/names/resolve.h"
#include "common/store/store.h"
#include "common/suppress/suppress.h"

void resources_fill(struct mem *mem, struct resolver *resolver, const struct store *store,
                    struct suppressions *suppressions, struct process *process);

#endif
