/* compare.h - compares two reports, and merges several into one. */
#ifndef SYMBOLIZE_COMPARE_COMPARE_H
#define SYMBOLIZE_COMPARE_COMPARE_H

#include "common/encode/json_fields.h"
#include "common/model/model.h"
#include "common/view/format_api.h"
#include "common/view/report_set.h"

/* ---- diff.c: the records that are new, fixed, grown, shrunk or unchanged --------------------- */

/* The kinds of change, in the order of the report. */
enum change { CHANGE_NEW, CHANGE_GROWN, CHANGE_SHRUNK, CHANGE_FIXED, CHANGE_UNCHANGED, CHANGE_MAX };

extern const char *const change_word[CHANGE_MAX];

struct diff_line {
    enum change change;
    /* the entry in each of the two reports; NULL: that report does not have it */
    const struct report_set_entry *old, *new;
};

struct diff {
    struct diff_line *lines;
    size_t count;
    uint64_t of[CHANGE_MAX];
};

/* Compares two reports. The struct diff lives in mem. */
struct diff diff_make(struct arena *mem, struct report_set *old, struct report_set *new);

void diff_write_text(const struct diff *diff, const struct view *view, FILE *stream);
void diff_write_json(const struct diff *diff, FILE *stream);

/* Writes the page of --format=html (in diff_html.c), which shows what changed. old, new: the names
 * of the two reports. */
void diff_write_html(const struct diff *diff, const char *old, const char *new,
                     const struct view *view, FILE *stream);

/* ---- merge.c: all reports as one, each record once, with its processes and hosts ------------- */

struct merge {
    struct report_set *report_set; /* its entries are sorted in the order of the report */
    /* sum over all processes: totals and their errors, but no records */
    struct process sum;
    const char *exe; /* path of one of the programs */
    size_t programs;
    uint64_t first_ns, last_ns; /* start time of the first and of the last process; 0 = unknown */
};

/* Merges the reports of the set: sorts its entries. The set must have one entry for each verdict
 * and kind of a signature (report_set.apart), and must live longer than the merge. */
struct merge merge_make(struct report_set *report_set, enum sort_order sort);

void merge_write_text(const struct merge *merge, const struct view *view, FILE *stream);
/* The fields of struct merge as JSON; docs/merged.schema.json is made from this table. */
extern const struct json_table json_merge;
void merge_write_json(const struct merge *merge, const struct view *view, FILE *stream);

#endif
