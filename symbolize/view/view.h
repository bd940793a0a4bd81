/* view.h - presents the model in forms that several formats share: tables by key, names of
 * allocation functions, and reports read back from JSON.
 */
#ifndef SYMBOLIZE_VIEW_VIEW_H
#define SYMBOLIZE_VIEW_VIEW_H

#include "common/suppress/suppress.h"
#include "common/view/format_api.h"

/* ---- group_by.c: a process summed up by function, file, module, size, kind, thread, site or tag -
 *
 * Sums a process up in a table by one key. Each listed record is in one row, so the rows sum up to
 * the totals of the listed verdicts. Function, file and module are those of the frame that the
 * record is about. A record of several threads is in a row of exactly these threads. A row by size
 * is a power of two; the size of a record is the average of its blocks, because single sizes are
 * not known. By tag a record is in the row of each of its tags, with the blocks of that tag; each
 * of these rows, and the sums, count it as one record. Indirectly lost records are listed with lost
 * ones; suppressed records are in no row. */

struct group_by_row {
    const char *name;           /* name of the row; by site the function, NULL = no frame */
    const struct record *first; /* the record of the row that is first in the report */
    struct verdict_total sum;
    size_t number; /* index of the row before sorting, for group_by.c alone */
};

/* How many bytes of the listed records have a known type (typed), how many of the typed bytes have
 * a type with a confidence below TYPE_DOUBTFUL (doubtful), and the number of blocks whose evidence
 * contradicts itself (conflicts). doubtful <= typed. */
struct type_coverage {
    uint64_t typed, doubtful, conflicts;
};

struct group_by_table {
    struct arena *mem;
    struct group_by_row *rows; /* sorted by bytes, the largest row first */
    size_t count;
    /* number of rows to list, limited by --top; `rest` is the sum of the other rows */
    size_t shown;
    struct verdict_total all, rest;
    struct type_coverage types; /* filled in for a table by type only */
};

extern const char *const group_by_word[BY_MAX], *const group_by_heading[BY_MAX];

/* Says whether the table includes records of this verdict. */
bool group_by_includes(const struct view *view, enum verdict verdict);

struct group_by_table group_by_make(const struct process *process, const struct view *view);
void group_by_end(struct group_by_table *table);

/* Returns the row's share of all bytes, from 0 to 1. */
double group_by_share(const struct group_by_table *table, const struct group_by_row *row);

/* ---- allocator_names.c: the function that an allocation or release called ----------------------
 *
 * libleak replaces malloc, free and operator new, and records the stack of their caller. Valgrind
 * and LSan print these functions as the innermost frame, so the formats that imitate their reports
 * begin a stack with a frame that has only this name. It names the family: calloc and realloc are
 * written as malloc. */

/* Name the function that allocates blocks of an enum leak_kind, and the function that releases in
 * an enum leak_form; NULL = unknown. */
const char *allocator_name(uint32_t kind);
const char *deallocator_name(uint32_t form);

/* ---- report_set_json.c: reads reports that leakreport wrote as JSON -------------------------- */

/* value of the key "format" in the JSON that `leakreport merge` writes */
#define REPORT_SET_MERGED_FORMAT "libleak-merged"

/* Says whether the file begins with a JSON object. False also when the file cannot be read. */
bool report_set_json_detect(const char *path);

/* Adds the report in a JSON file, or the merged reports in it, to the set. Returns NULL, or an
 * error message: "is JSON, but no report of libleak's". */
const char *report_set_json_read(struct report_set *report_set, const char *path);

/* A baseline is an earlier report that is compared with a new one, to list only what is new.
 * Records and resources of the baseline suppress those of the new report with equal signatures.
 * Errors cannot be suppressed: those of the baseline are listed, but not counted as new. */

/* Reads a JSON report as a baseline: only its records of the verdicts that the set shows. False:
 * *wrong has the error message. */
bool baseline_read(struct report_set *report_set, const char *path, const char **wrong);

/* Adds a suppression for each record and resource of the baseline. */
void baseline_suppress(const struct report_set *report_set, const char *path,
                       struct suppressions *suppressions);

/* Returns the number of errors in the report whose signatures are not in the baseline. */
uint64_t baseline_new_errors(const struct report_set *report_set, const struct report *report);

#endif
