/* args.h - the command line of leakrun. It takes three kinds of options:
 *
 *   its own            --keep, --cwd, --gdb ...           a table in args.c
 *   the runtime's      --a-b=v is a_b=v                   from include/leak_options.def
 *   the report's       --format, --top ...                forwarded to leakreport unchecked
 *
 * A long option takes its value after "=" or as the next word. Parsing stops at the first word that
 * is no option, or at "--"; the rest is the command line of the program. */
#ifndef LIVE_ARGS_H
#define LIVE_ARGS_H

#include <stdbool.h>

#include "common/base/string_list.h"

struct args {
    const char *library, *reporter; /* where scripts/leakrun found them, or NULL */

    const char *dir, *keep, *output, *cwd, *errors_for;
    const char *environment_of; /* pid: print its environment, and nothing else */
    const char *pid;            /* of a process that runs already; NULL: a program is started */
    const char *when_lost;      /* the record, "": the first one; NULL: not wanted */
    size_t error_exitcode;      /* 0: not given */
    const char *report_to;      /* an option of the runtime, which applies to the report here too */
    bool to;                    /* the report has --to, so its stdout is the stdout of leakrun */
    bool no_report, gdb, force, append, quiet, verbose, self_test, help, version;
    bool print_rules;              /* --default-suppressions=print */
    char *runtime;                 /* "a_b=v:c=d" or "" */
    struct string_list for_report; /* options for leakreport, in order */
    char **program; /* NULL-terminated, at least one word; NULL: self_test, print_rules or pid */
};

/* Returns -1 to go on, else the exit status of leakwatch (--help, --version, a wrong line). */
int args_parse(struct args *args, int argc, char **argv);

/* The file that --graph names; NULL: none, or its name is a pattern. The caller frees it. */
char *args_graph_path(const struct args *args);

/* Needed after a wrong line, too. */
void args_free(struct args *args);

#endif
