/* view.h - the model as several formats present it: tables by key, names of allocator frames, and
 * reports read back from JSON.
 */
#ifndef SYMBOLIZE_VIEW_VIEW_H
#define SYMBOLIZE_VIEW_VIEW_H

#include "common/suppress/suppress.h"
#include "common/view/format_api.h"

/* ---- group_by.c: a process summed up by function, file, module, size, kind, thread, site or tag -
 *
 * Each listed record is in one row, so the rows sum up to the totals of the listed verdicts.
 * Function, file and module are those of the frame that the record is about. A record of several
 * threads is in a row of exactly these threads. Only the average size is known, and rows are powers
 * of two. By tag a record is in the row of each tag that it has blocks of, with these blocks alone;
 * it counts as one record in each row and as one in the sums. Indirectly lost records are listed
 * with lost ones; suppressed records are in no row. */

struct group_by_row {
    const char *name;           /* of a site: the function, NULL = no frame */
    const struct record *first; /* the first record of the row, in the order of the report */
    struct verdict_total sum;
    size_t number; /* group_by.c's own */
};

/* Bytes of the listed records that have a type, and those of them whose type is below
 * TYPE_DOUBTFUL; blocks whose evidence contradicts itself. doubtful <= typed. */
struct type_coverage {
    uint64_t typed, doubtful, conflicts;
};

struct group_by_table {
    struct arena *mem;
    struct group_by_row *rows; /* by falling bytes */
    size_t count;
    size_t shown; /* rows to list, by --top; the others are summed up in `rest` */
    struct verdict_total all, rest;
    struct type_coverage types; /* by type */
};

extern const char *const group_by_word[BY_MAX], *const group_by_heading[BY_MAX];

/* Does the table include records of this verdict? */
bool group_by_includes(const struct view *view, enum verdict verdict);

struct group_by_table group_by_make(const struct process *process, const struct view *view);
void group_by_end(struct group_by_table *table);

/* The row's share of all bytes, 0 to 1. */
double group_by_share(const struct group_by_table *table, const struct group_by_row *row);

/* ---- allocator_names.c: the function that an allocation or release called ----------------------
 *
 * The library replaces that function and records its callers. Readers of other tools' reports
 * expect it as the innermost frame, so formats that imitate these begin a stack with a frame of
 * this name and nothing else. The name is that of the family: calloc and realloc are malloc. */

/* The names of functions, indexed by enum leak_kind and enum leak_form; NULL = unknown. */
const char *allocator_name(uint32_t kind);
const char *deallocator_name(uint32_t form);

/* ---- report_set_json.c: reports written as JSON, read back ----------------------------------- */

#define REPORT_SET_MERGED_FORMAT "libleak-merged" /* "format" of the JSON that merge writes */

/* Does the file begin as JSON does? False also when it cannot be read. */
bool report_set_json_detect(const char *path);

/* Adds a report, or a merged one. NULL, or what is wrong: "is JSON, but no report of libleak's". */
const char *report_set_json_read(struct report_set *report_set, const char *path);

/* A baseline is an earlier report: only what it does not contain matters. Its records and resources
 * are suppressed by their signatures; its errors, which nothing suppresses, are listed and not
 * counted as new. */

/* Reads a JSON report, restricted to the verdicts of the set. False: *wrong says why. */
bool baseline_read(struct report_set *report_set, const char *path, const char **wrong);

/* Adds a suppression for each entry. */
void baseline_suppress(const struct report_set *report_set, const char *path,
                       struct suppressions *suppressions);

/* The number of errors in the report whose signatures are not in the baseline. */
uint64_t baseline_new_errors(const struct report_set *report_set, const struct report *report);

#endif
