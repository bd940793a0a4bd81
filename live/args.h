/* args.h - parses the command line of leakrun. It takes three kinds of options:
 *
 *   its own            --keep, --cwd, --gdb ...           a table in args.c
 *   the runtime's      --a-b=v is a_b=v                   from include/leak_options.def
 *   the report's       --format, --top ...                forwarded to leakreport unchecked
 *
 * A long option takes its value after "=" or as the next word. Parsing stops at the first word that
 * is no option, or at "--"; the other words are the command line of the program. */
#ifndef LIVE_ARGS_H
#define LIVE_ARGS_H

#include <stdbool.h>

#include "common/base/string_list.h"

struct args {
    /* paths of libleak.so and leakreport that scripts/leakrun has found; NULL: leakwatch searches
     * them in its own directory */
    const char *library, *reporter;

    const char *dir, *keep, *output, *cwd, *errors_for;
    /* pid of a process whose environment leakwatch prints, doing nothing else */
    const char *environment_of;
    const char *pid; /* pid of a running process to attach to; NULL: start a program */
    /* number of the record to follow, "" for the first ones; NULL: --when-lost was not given */
    const char *when_lost;
    size_t error_exitcode; /* exit status when leaks are found; 0: the option was not given */
    /* value of --report-to; this option of libleak.so also applies to the report of leakrun */
    const char *report_to;
    /* --to was given, so leakreport gets the standard output of leakrun */
    bool to;
    bool no_report, gdb, force, append, quiet, verbose, self_test, help, version;
    bool print_rules; /* --default-suppressions=print was given */
    /* options for libleak.so, as in LIBLEAK_OPTIONS: "a_b=v:c=d" or "" */
    char *runtime;
    struct string_list for_report; /* options for leakreport, in their order */
    /* the program and its arguments, ended by NULL; NULL with self_test, print_rules or pid */
    char **program;
};

/* Parses the command line. Returns -1 to continue, else the exit status of leakwatch (--help,
 * --version, or an error). */
int args_parse(struct args *args, int argc, char **argv);

/* Returns the file that --graph names; the caller frees it. NULL: no graph is wanted, or the name
 * is a pattern. */
char *args_graph_path(const struct args *args);

/* Frees the fields of args; call it also after args_parse() failed. */
void args_free(struct args *args);

#endif
