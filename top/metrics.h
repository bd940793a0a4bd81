/* metrics.h - a fleet as metrics, in the text format that the textfile collector of Prometheus'
 * node exporter reads.
 *
 * docs/FLEET.md has the names. There are never more series than asked for: processes that grow come
 * first, then the larger ones, and after all processes their sites. What there was no room for is
 * counted in a series of its own.
 */
#ifndef TOP_METRICS_H
#define TOP_METRICS_H

#include "top/fleet.h"
#include "top/labels.h"
#include "top/order.h"

#define METRICS_SITES 10
#define METRICS_SERIES 5000
#define METRICS_SERIES_LEAST 100

struct metrics_options {
    size_t sites;  /* of a process, at most */
    size_t series; /* of all, at most */
    struct ordering ordering;
    const char *label[LABELS_MAX]; /* "NAME=VALUE", of every series */
    size_t labels;
};

void metrics_write(const struct fleet *fleet, const struct metrics_options *options, FILE *stream);

#endif
