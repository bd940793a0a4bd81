/* bad_frees.h - what was released wrongly, with names.
 *
 * One kind of record is left out: a block whose allocating function is an operator new that is not
 * ours, or whose releasing function is such an operator delete. Then the program's own operators
 * are made of other ones, and what they do to each other is their business.
 */
#ifndef SYMBOLIZE_FAULTS_BAD_FREES_H
#define SYMBOLIZE_FAULTS_BAD_FREES_H

#include "common/model/model.h"
#include "common/names/resolve.h"
#include "common/store/store.h"

/* Fills in the mistakes of a process, and how many they are. */
void mistakes_fill(struct mem *mem, struct resolver *resolver, const struct store *store,
                   struct process *process);

/* Without addresses, times and threads' numbers that differ from run to run. */
void mistakes_make_stable(struct process *process);

#endif
