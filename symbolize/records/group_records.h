/* group_records.h - sites become records.
 *
 * One record per signature, kind and verdict, with everything a reader is told of it. Sites that
 * hold nothing now are no records. What is suppressed is a record, and counts in no total. Until a
 * look at the heap exists the verdict is "unfreed", or "runtime" for what the C and C++ libraries
 * keep for themselves.
 */
#ifndef SYMBOLIZE_RECORDS_GROUP_RECORDS_H
#define SYMBOLIZE_RECORDS_GROUP_RECORDS_H

#include "common/model/model.h"
#include "common/names/resolve.h"
#include "common/store/store.h"
#include "common/suppress/suppress.h"

struct group_options {
    bool inherited; /* a fork child: show what the parent handed down, too */
    bool blocks;    /* as many single blocks as are known, not just a few */
    enum sort_order order;
    struct suppressions *suppressions; /* turned to the store; NULL = none */
};

/* Fills the records, totals and blind modules of a zeroed process. */
void group_records(struct mem *mem, struct resolver *resolver, const struct store *store,
                   const struct group_options *options, struct process *process);

#endif
