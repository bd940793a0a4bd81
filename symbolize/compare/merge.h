/* merge.h - many reports as one: each record once, with the processes and hosts that it was seen
 * in.
 */
#ifndef SYMBOLIZE_COMPARE_MERGE_H
#define SYMBOLIZE_COMPARE_MERGE_H

#include "common/view/report_set.h"
#include "common/model/model.h"
#include "common/view/format_api.h"

struct merge {
    struct ledger *ledger; /* its entries in the order of the report */
    struct process sum;    /* of all processes: totals and their errors, no records */
    const char *exe;       /* of any of them */
    size_t programs;
    uint64_t first_ns, last_ns; /* when the first of them began, and the last; 0 = unknown */
};

/* Sorts the ledger, which keeps records apart and goes on living. */
struct merge merge_make(struct ledger *ledger, enum sort_order sort);

void merge_write_text(const struct merge *merge, const struct view *view, FILE *stream);
void merge_write_json(const struct merge *merge, const struct view *view, FILE *stream);

#endif
