/* report_notes.h - the sentences of a report about itself: what is not in its numbers, and why. */
#ifndef SYMBOLIZE_BUILD_REPORT_NOTES_H
#define SYMBOLIZE_BUILD_REPORT_NOTES_H

#include "symbolize/records/sampling_error.h"
#include "common/model/model.h"
#include "common/store/store.h"
#include "common/suppress/suppress.h"

/* Live blocks that a fork child has from its parent and that are not shown; 0 = none. */
struct handed_down {
    uint64_t bytes, blocks;
    struct variance variance;
};

void notes_fill(struct mem *mem, const struct store *store, const struct handed_down *inherited,
                const struct suppressions *suppressions, struct process *process);

#endif
