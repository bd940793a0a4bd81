/* metrics.h - writes all processes of a fleet as metrics, in the text format that the textfile
 * collector of Prometheus' node exporter reads. docs/FLEET.md lists the metrics.
 *
 * The option --series limits the number of series: first come processes that grow, then larger
 * ones, and after all processes their sites. Some metrics count what is left out.
 */
#ifndef TOP_METRICS_H
#define TOP_METRICS_H

#include <stdio.h>

#include "top/fleet.h"
#include "top/order.h"

#define METRICS_SITES 10
#define METRICS_SERIES 5000
#define METRICS_SERIES_LEAST 100
#define LABELS_MAX 8 /* most labels that a user may add */

struct metrics_options {
    size_t sites;  /* most sites of a process that get series */
    size_t series; /* most series of all processes together */
    struct ordering ordering;
    const char *label[LABELS_MAX]; /* labels "NAME=VALUE" that each series gets */
    size_t labels;
};

void metrics_write(const struct fleet *fleet, const struct metrics_options *options, FILE *stream);

/* Replaces a file in one step: a reader sees either the whole old text or the whole new one. The
 * text is written to a file with another name in the same folder, readable by all users, which is
 * then renamed. The path must be a regular file or not exist; links and devices are not replaced.
 * False: errno has the reason, and the old file is unchanged. */
bool textfile_replace(const char *path, const char *text, size_t length);

/* ---- Labels: NAME="value" -------------------------------------------------------------------- */

/* Says whether a user may add the label "NAME=VALUE": the name must be valid for Prometheus, and
 * not one that libleak uses. */
bool label_is_valid(const char *word);
bool label_has_same_name(const char *word, const char *other);

/* Writes `,name="value"`. The value is cut in its middle to `columns` columns, 0 = not cut. The
 * first label has no comma. Control characters and invalid bytes are written as \xNN, as on the
 * terminal. */
void label_write(const char *name, const char *value, size_t columns, bool first, FILE *stream);
void label_write_option(const char *word, bool first, FILE *stream); /* word: "NAME=VALUE" */

/* ---- metric_table.c: the tables of metrics --------------------------------------------------- */

struct metrics_file {
    size_t processes, left_out, unreadable;
    uint64_t time_ns;
};

struct metrics_process {
    const struct fleet_member *member;
    const struct heap_snapshot *snapshot; /* the snapshot of `member` */
    double growth;                        /* sum over all growing sites, in bytes per second */
    size_t rows, shown;                   /* number of sites of the process, and of those that get
                                           * series */
};

struct metric {
    const char *name, *type, *help;
    /* writes the further labels of the metric's series; NULL = there are none */
    void (*labels)(const struct metrics_process *process, FILE *stream);
};

enum { FILE_METRICS = 4, PROCESS_METRICS = 16, SITE_METRICS = 5 };

extern const struct metric file_metrics[FILE_METRICS];
extern const struct metric process_metrics[PROCESS_METRICS];
extern const struct metric site_metrics[SITE_METRICS];

/* Return the value of the metric at index `metric` of a table; NAN = it is unknown. */
double file_metric_value(const struct metrics_file *file, size_t metric);
double process_metric_value(const struct metrics_process *process, size_t metric);
double site_metric_value(const struct metrics_process *process, size_t row, size_t metric);

#endif
