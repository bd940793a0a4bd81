/* when_lost.h - implements leakrun --when-lost. It runs the program again with the option
 * follow_blocks=, to find where lost blocks were lost, and a third time to find out more about one
 * block: which code used it last, and, if only two calls are known between which it was lost, the
 * instruction. A fourth run finds out through which functions the block went. Several records share
 * the second run; then the third and fourth run are repeated for each of them. Threads that share
 * their work may allocate other blocks in each run; then a run is repeated. leakreport chooses what
 * each run follows (symbolize/cli/followed.h), and this module how long there are runs. */
#ifndef LIVE_WHEN_LOST_H
#define LIVE_WHEN_LOST_H

#include <stdbool.h>

#include "live/args.h"
#include "live/child.h"
#include "live/input.h"
#include "live/session.h"

#define WHEN_LOST_RUNS 12
/* No run begins later than this after the first one; and none for another record than the first
 * one. */
#define WHEN_LOST_SECONDS 60
#define WHEN_LOST_OTHER_SECONDS 30
/* A run of a server is ended when it is so much longer than the first one. */
#define WHEN_LOST_SERVER_SECONDS 60
/* If the blocks are in a process that the program has forked, it may end so much later than the
 * program, plus the time of the first run. */
#define WHEN_LOST_CHILD_SECONDS 25

struct when_lost {
    struct session sessions[WHEN_LOST_RUNS];
    size_t count;
    /* directories of the sessions of the repeated runs, for the option --followed of leakreport */
    struct string_list dirs;
};

/* The first run, which has ended, and the data that are needed to start the program again. */
struct when_lost_program {
    const struct args *args;
    const char *path, *library, *reporter;
    const char *dir, *runtime_dir; /* directories for session_make() */
    const struct string_list *environment;
    const struct session *session;
    const struct child *child;
    int wait_status;
    uint64_t began_ns; /* time of its start */
    struct input *input;
};

/* Runs the program again; if this is impossible, prints the reason. Without --when-lost does
 * nothing. */
void when_lost_run(struct when_lost *when, const struct when_lost_program *program);

/* Removes the recording files of the repeated runs. */
void when_lost_end(struct when_lost *when);

#endif
