/* options.h - the options of leakreport: one table makes the parser and --help. */
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
    void (*generate)(const struct report *report, const struct view *view,
                     FILE *stream); /* replaces the format; NULL = none */
    const char *output;             /* pattern of -o, NULL = stdout */
    struct targets targets;         /* of --to, and -o; none: only the output */
    const char *baseline;           /* an earlier report, NULL = none */
    bool force, append, last, survivors;
    bool show_given;
    struct view view;
    struct build_options build;
    enum { DEFAULTS_ON, DEFAULTS_OFF, DEFAULTS_PRINT } defaults; /* --default-suppressions */
    struct option_list debug_dirs, source_dirs, substitutes, suppressions, only, followed;
    const char *to_follow;         /* NULL = write the report */
    const char *scope[SCOPE_KEYS]; /* NULL = as it was recorded */
    enum { MATCH_AS_RECORDED, MATCH_CALLER, MATCH_ANY } match;
    const char *sysroot;
    struct time_window since;
    enum { COLOUR_AUTO, COLOUR_ALWAYS, COLOUR_NEVER } colour;
    size_t error_exitcode; /* 0 = none */
    bool errors_for[VERDICT_MAX], errors_for_errors, errors_for_growing, errors_for_resources;
    const char *text;            /* file with a finished report; NULL = none */
    int serve_read, serve_write; /* -1 = do not serve */
    bool no_pager;
    bool help, version;
};

/* Parses the command line. format: the default, NULL = text. Keeps pointers to argv's strings.
 * False: prints one line on stderr. */
bool options_parse(int argc, char **argv, const struct format *format, struct options *options);
void options_end(struct options *options);
void options_help(FILE *stream);

#endif
