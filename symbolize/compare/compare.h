/* compare.h - several reports together: the difference of two, and many merged into one. */
#ifndef SYMBOLIZE_COMPARE_COMPARE_H
#define SYMBOLIZE_COMPARE_COMPARE_H

#include "common/encode/json_fields.h"
#include "common/model/model.h"
#include "common/view/format_api.h"
#include "common/view/report_set.h"

/* ---- diff.c: what is new, fixed, grown, shrunk, unchanged ------------------------------------ */

/* The kinds of change, in the order of the report. */
enum change { CHANGE_NEW, CHANGE_GROWN, CHANGE_SHRUNK, CHANGE_FIXED, CHANGE_UNCHANGED, CHANGE_MAX };

extern const char *const change_word[CHANGE_MAX];

struct diff_line {
    enum change change;
    const struct report_set_entry *old, *new; /* NULL: not in that report */
};

struct diff {
    struct diff_line *lines;
    size_t count;
    uint64_t of[CHANGE_MAX];
};

/* Lives in mem. */
struct diff diff_make(struct arena *mem, struct report_set *old, struct report_set *new);

void diff_write_text(const struct diff *diff, const struct view *view, FILE *stream);
void diff_write_json(const struct diff *diff, FILE *stream);

/* diff_html.c: the page of --format=html, of what changed; the names of both reports. */
void diff_write_html(const struct diff *diff, const char *old, const char *new,
                     const struct view *view, FILE *stream);

/* ---- merge.c: each record once, with the processes and hosts that it occurred in ------------- */

struct merge {
    struct report_set *report_set; /* its entries in the order of the report */
    struct process sum;            /* of all processes: totals and their errors, no records */
    const char *exe;               /* of any of them */
    size_t programs;
    uint64_t first_ns, last_ns; /* start of the first and of the last process; 0 = unknown */
};

/* Sorts the report set, which keeps verdicts and kinds apart and must outlive the merge. */
struct merge merge_make(struct report_set *report_set, enum sort_order sort);

void merge_write_text(const struct merge *merge, const struct view *view, FILE *stream);
/* The table of struct merge; docs/merged.schema.json is made of it. */
extern const struct json_table json_merge;
void merge_write_json(const struct merge *merge, const struct view *view, FILE *stream);

#endif
