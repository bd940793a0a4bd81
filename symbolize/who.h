/* who.h - what one address is, and what points at it: as the last look has it, if it was taken for
 * that address (leakctl who). */
#ifndef SYMBOLIZE_WHO_H
#define SYMBOLIZE_WHO_H

#include "symbolize/model.h"
#include "symbolize/resolve.h"
#include "symbolize/store.h"

struct who_options {
    bool wanted;
    uint64_t address;
};

/* Fills in "who" of a process, when that is wanted. */
void who_fill(struct mem *mem, struct resolver *resolver, const struct store *store,
              const struct who_options *options, struct process *process);

#endif
