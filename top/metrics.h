/* metrics.h - a fleet as metrics, in the text format that the textfile collector of Prometheus'
 * node exporter reads. docs/FLEET.md lists the metrics.
 *
 * There are never more series than the option --series allows: processes that grow come first, then
 * larger ones, and after all processes their sites. Metrics of their own count what is left out.
 */
#ifndef TOP_METRICS_H
#define TOP_METRICS_H

#include <stdio.h>

#include "top/fleet.h"
#include "top/order.h"

#define METRICS_SITES 10
#define METRICS_SERIES 5000
#define METRICS_SERIES_LEAST 100
#define LABELS_MAX 8 /* that a user may add */

struct metrics_options {
    size_t sites;  /* of a process, at most */
    size_t series; /* in all, at most */
    struct ordering ordering;
    const char *label[LABELS_MAX]; /* "NAME=VALUE", of every series */
    size_t labels;
};

void metrics_write(const struct fleet *fleet, const struct metrics_options *options, FILE *stream);

/* Replaces a file at once: a reader sees the whole old text or the whole new one. The text is
 * written beside it under another name, readable by all, and renamed. Only a regular file or a
 * missing one is replaced: no link, no device. False: errno says why, and the old file is
 * unchanged. */
bool textfile_replace(const char *path, const char *text, size_t length);

/* ---- Labels: NAME="value" -------------------------------------------------------------------- */

/* Whether a user may add "NAME=VALUE": the name is valid for Prometheus and is none of libleak's.
 */
bool label_is_valid(const char *word);
bool label_has_same_name(const char *word, const char *other);

/* `,name="value"`, the value cut in its middle to so many columns, 0 = not cut; no comma before the
 * first label. Control characters and stray bytes become \xNN, as on the terminal. */
void label_write(const char *name, const char *value, size_t columns, bool first, FILE *stream);
void label_write_option(const char *word, bool first, FILE *stream); /* "NAME=VALUE" */

/* ---- The tables of metrics ------------------------------------------------------------------- */

struct metrics_file {
    size_t processes, left_out, unreadable;
    uint64_t time_ns;
};

struct metrics_process {
    const struct fleet_member *member;
    const struct heap_snapshot *snapshot; /* of that member */
    double growth;                        /* bytes per second, of all growing sites */
    size_t rows, shown;                   /* its sites; those of them that get series */
};

struct metric {
    const char *name, *type, *help;
    void (*labels)(const struct metrics_process *process, FILE *stream); /* further ones, or NULL */
};

enum { FILE_METRICS = 4, PROCESS_METRICS = 16, SITE_METRICS = 5 };

extern const struct metric file_metrics[FILE_METRICS];
extern const struct metric process_metrics[PROCESS_METRICS];
extern const struct metric site_metrics[SITE_METRICS];

/* The value of the metric at that index; NAN where it is unknown. */
double file_metric_value(const struct metrics_file *file, size_t metric);
double process_metric_value(const struct metrics_process *process, size_t metric);
double site_metric_value(const struct metrics_process *process, size_t row, size_t metric);

#endif
