/* tool.h - runs another program of the project and waits for it: leakreport for a report, leakctl for a
 * leak check. Its standard output goes to a descriptor, its first line on standard error is kept. */
#ifndef SERVE_TOOL_H
#define SERVE_TOOL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>

#define TOOL_MESSAGE_SIZE 512
#define TOOL_SECONDS 300 /* then it is killed */

struct tool_run {
    const char *name;                /* "leakreport" */
    char **arguments;                /* NULL-terminated, from argv[1] on */
    int output;                      /* -1: only the first line of it is kept, as the message */
    const atomic_bool *cancel;       /* becomes true: the tool is killed */
    char message[TOOL_MESSAGE_SIZE]; /* set by tool_run(); "": nothing was said */
};

/* Runs the tool. True: it ran, and exited with 0. */
bool tool_run(struct tool_run *run);

#endif
