/* options.h - the options of leakreport; one table (report_options.def) makes the parser and
 * --help.
 */
#ifndef SYMBOLIZE_CLI_OPTIONS_H
#define SYMBOLIZE_CLI_OPTIONS_H

#include <stdbool.h>
#include <stdio.h>

#include "symbolize/build/build.h"
#include "common/options/command_line.h"
#include "common/view/format_api.h"
#include "common/store/store.h"
#include "symbolize/output/output.h"

struct options {
    struct option_list files;
    const struct format *format;
    /* function that writes suppressions (--gen-suppressions) in place of the report; NULL = the
     * report is written */
    void (*generate)(const struct report *report, const struct view *view, FILE *stream);
    const char *output; /* pattern of -o; NULL = write to stdout */
    /* targets of --to, and of -o if both are given; none = write to `output` */
    struct targets targets;
    const char *baseline; /* path of an earlier report; NULL = none */
    bool force, append, last, survivors;
    bool show_given;
    struct view view;
    struct build_options build;
    /* value of --default-suppressions */
    enum { DEFAULTS_ON, DEFAULTS_OFF, DEFAULTS_PRINT } defaults;
    struct option_list debug_dirs, source_dirs, substitutes, suppressions, only, followed;
    const char *to_follow; /* record of --blocks-to-follow; NULL = write the report */
    /* scope options that replace the recorded ones; NULL = use the recorded value */
    const char *scope[SCOPE_KEYS];
    enum { MATCH_AS_RECORDED, MATCH_CALLER, MATCH_ANY } match;
    const char *sysroot;
    struct time_window since;
    enum { COLOUR_AUTO, COLOUR_ALWAYS, COLOUR_NEVER } colour;
    /* exit status when errors are found; 0 = errors do not change the exit status */
    size_t error_exitcode;
    bool errors_for[VERDICT_MAX], errors_for_errors, errors_for_growing, errors_for_resources;
    /* path of a file with a finished text report, which leakreport only sends to the targets; NULL
     * = none */
    const char *text;
    int serve_read, serve_write; /* descriptors of --serve-fd, for requests and for answers; -1 = do
                                  * not serve */
    bool no_pager;
    bool help, version;
};

/* Parses the command line. format: the format to use if the options name none; NULL = text. Keeps
 * pointers to the strings of argv. False: prints one line on stderr. */
bool options_parse(int argc, char **argv, const struct format *format, struct options *options);
void options_end(struct options *options);
void options_help(FILE *stream);

#endif
