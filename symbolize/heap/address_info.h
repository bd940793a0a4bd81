/* address_info.h - what one address is, and what points at it: as the last look has it, if it was
 * taken for that address (leakctl who). */
#ifndef SYMBOLIZE_HEAP_ADDRESS_INFO_H
#define SYMBOLIZE_HEAP_ADDRESS_INFO_H

#include "common/model/model.h"
#include "common/names/resolve.h"
#include "common/store/store.h"

struct who_options {
    bool wanted;
    uint64_t address;
};

/* Fills in "who" of a process, when that is wanted. */
void who_fill(struct mem *mem, struct resolver *resolver, const struct store *store,
              const struct who_options *options, struct process *process);

#endif
