/* diff.h - two ledgers beside each other: what is new, fixed, grown, shrunk, unchanged. */
#ifndef SYMBOLIZE_COMPARE_DIFF_H
#define SYMBOLIZE_COMPARE_DIFF_H

#include "common/view/report_set.h"
#include "common/view/format_api.h"

/* In the order in which they are told. */
enum change { CHANGE_NEW, CHANGE_GROWN, CHANGE_SHRUNK, CHANGE_FIXED, CHANGE_UNCHANGED, CHANGE_MAX };

struct diff_line {
    enum change change;
    const struct ledger_entry *old, *new; /* NULL: it is not there */
};

struct diff {
    struct diff_line *lines;
    size_t count;
    uint64_t of[CHANGE_MAX];
};

/* Lives in mem. */
struct diff diff_make(struct mem *mem, struct ledger *old, struct ledger *new);

void diff_write_text(const struct diff *diff, const struct view *view, FILE *stream);
void diff_write_json(const struct diff *diff, FILE *stream);

#endif
