/* options.h - the options of leaktop; one table makes the parser and --help. */
#ifndef TOP_OPTIONS_H
#define TOP_OPTIONS_H

#include "common/options/command_line.h"
#include "top/listing.h"
#include "top/metrics.h"

struct options {
    const char *process; /* pid or name; NULL = list all processes, or write metrics of all */
    const char *dir;     /* --dir; NULL = the default directories */
    enum { VIEW_SCREEN, VIEW_TABLE, VIEW_JSON, VIEW_CSV, VIEW_METRICS, VIEW_PAGE } view;
    bool once;
    double interval; /* seconds between two snapshots */
    struct listing_options listing;
    const char *file; /* path of the file for VIEW_METRICS */
    struct metrics_options metrics;
    const char *listen; /* address or socket on which VIEW_PAGE listens (serve/address.h) */
    const char *token_file;
    struct option_list hosts;
    bool allow_actions;
    bool help, version;
};

/* Parses the command line. Keeps pointers to the strings of argv. False: the command line is wrong,
 * and one line on stderr says why. */
bool options_parse(int argc, char **argv, struct options *options);
void options_help(FILE *stream);

#endif
