/* recent_frees.h - the last frees of each thread, with names: who freed this address?
 *
 * The process keeps a ring of each thread's last frees. One that was looked at has its whole stack,
 * of the others only the return address is known; a ring goes to the next thread when its own ends.
 */
#ifndef SYMBOLIZE_FAULTS_RECENT_FREES_H
#define SYMBOLIZE_FAULTS_RECENT_FREES_H

#include "common/model/model.h"
#include "common/names/resolve.h"
#include "common/store/store.h"

struct recent_options {
    bool all;         /* every free that is remembered … */
    bool one;         /* … or only those of this address */
    uint64_t address; /* where a block began */
};

/* Fills in the recent frees of a process that are asked for. */
void recent_fill(struct mem *mem, struct resolver *resolver, const struct store *store,
                 const struct recent_options *options, struct process *process);

#endif
