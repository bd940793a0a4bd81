/* tool.h - runs another program of libleak and waits for it: leakreport for a report, leakctl for a
 * leak check. Its standard output goes to a descriptor; the first line of its standard error is
 * kept as a message. */
#ifndef SERVE_TOOL_H
#define SERVE_TOOL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>

#define TOOL_MESSAGE_SIZE 512
#define TOOL_SECONDS 300 /* time after which the tool is killed */

struct tool_run {
    const char *name; /* name of the tool, like "leakreport" */
    char **arguments; /* arguments from argv[1] on, ended by NULL */
    /* descriptor for the standard output; -1: only its first line is kept, as the message */
    int output;
    const atomic_bool *cancel;       /* the tool is killed when this becomes true */
    char message[TOOL_MESSAGE_SIZE]; /* set by tool_run(); "": the tool has printed no message */
};

/* Runs the tool. True: it has ended with exit status 0. */
bool tool_run(struct tool_run *run);

#endif
