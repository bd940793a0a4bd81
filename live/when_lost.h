/* when_lost.h - leakrun --when-lost: the program runs again with follow_blocks=, and a third time that
 * tells more of one block: who used it last, and where only the two calls are known between which
 * it was lost, the instruction. Threads that share their work allocate other blocks in each run: then
 * both are tried again, with WHEN_LOST_RUNS in all. */
#ifndef LIVE_WHEN_LOST_H
#define LIVE_WHEN_LOST_H

#include <stdbool.h>

#include "live/args.h"
#include "live/child.h"
#include "live/input.h"
#include "live/session.h"

#define WHEN_LOST_RUNS 5

struct when_lost {
    struct session sessions[WHEN_LOST_RUNS];
    size_t count;
    struct string_list dirs; /* of these sessions, for --followed */
};

/* The first run, which has ended, and what starting the program needs. */
struct when_lost_program {
    const struct args *args;
    const char *path, *library, *reporter;
    const char *dir, *runtime_dir; /* as of session_make */
    const struct string_list *environment;
    const struct session *session;
    const struct child *child;
    int wait_status;
    struct input *input;
};

/* Runs it; a line says why not. Without --when-lost does nothing. */
void when_lost_run(struct when_lost *when, const struct when_lost_program *program);

/* Removes the recordings. */
void when_lost_end(struct when_lost *when);

#endif
