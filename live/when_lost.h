/* when_lost.h - implements leakrun --when-lost. It runs the program again with the option
 * follow_blocks=, to find where lost blocks were lost, and a third time to find out more about one
 * block: which code used it last, and, if only two calls are known between which it was lost, the
 * instruction. Threads that share their work may allocate other blocks in each run; then a run is
 * repeated, but there are at most WHEN_LOST_RUNS runs. */
#ifndef LIVE_WHEN_LOST_H
#define LIVE_WHEN_LOST_H

#include <stdbool.h>

#include "live/args.h"
#include "live/child.h"
#include "live/input.h"
#include "live/session.h"

#define WHEN_LOST_RUNS 5
#define WHEN_LOST_SECONDS 60 /* no run begins later than this after the first one */

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
    struct input *input;
};

/* Runs the program again; if this is impossible, prints the reason. Without --when-lost does
 * nothing. */
void when_lost_run(struct when_lost *when, const struct when_lost_program *program);

/* Removes the recording files of the repeated runs. */
void when_lost_end(struct when_lost *when);

#endif
