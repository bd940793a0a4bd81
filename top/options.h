/* options.h - what the user can ask of leaktop: one table makes parser and --help. */
#ifndef TOP_OPTIONS_H
#define TOP_OPTIONS_H

#include <stdbool.h>
#include <stdio.h>

#include "top/metrics.h"
#include "top/table.h"

struct options {
    const char *process; /* pid or name; NULL = list them, or all of them as metrics */
    const char *dir;     /* NULL = the default places */
    enum { VIEW_SCREEN, VIEW_TABLE, VIEW_JSON, VIEW_CSV, VIEW_METRICS } view;
    bool once;
    double interval; /* seconds */
    struct listing_options listing;
    const char *file; /* of VIEW_METRICS */
    struct metrics_options metrics;
    bool help, version;
};

/* False: one line about it is on stderr. The texts are argv's. */
bool options_parse(int argc, char **argv, struct options *options);
void options_help(FILE *stream);

#endif
