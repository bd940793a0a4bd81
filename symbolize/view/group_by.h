/* group_by.h - a process added up by function, file, module, size, kind, thread, site or tag.
 *
 * Each record that is shown is in one row, so the rows sum up to the totals of the verdicts that
 * are shown. Function, file and module are those of the frame a record is about; a record of
 * several threads is in a row of just these; of sizes only the average is known, and rows are
 * powers of two. By tag a record is in the row of each tag that it has blocks of, with these alone;
 * it is one record in each, and one in the sums. What hangs under lost blocks is shown with them;
 * what is suppressed is in no row.
 */
#ifndef SYMBOLIZE_VIEW_GROUP_BY_H
#define SYMBOLIZE_VIEW_GROUP_BY_H

#include "common/view/format_api.h"

struct by_row {
    const char *name;           /* of a site: the function, NULL = no frame */
    const struct record *first; /* that is in it */
    struct verdict_total sum;
    size_t number; /* group_by.c's own */
};

struct by_table {
    struct mem *mem;
    struct by_row *rows; /* by falling bytes */
    size_t count;
    size_t shown; /* of them, by --top; the others are the rest */
    struct verdict_total all, rest;
};

extern const char *const by_word[BY_MAX], *const by_head[BY_MAX];

/* Are its records in a table? */
bool by_shows(const struct view *view, enum verdict verdict);

struct by_table by_make(const struct process *process, const struct view *view);
void by_end(struct by_table *table);

/* Of the bytes of all: 0 to 1. */
double by_share(const struct by_table *table, const struct by_row *row);

#endif
