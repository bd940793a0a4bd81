/* child.h - starting programs: the user's, and ours.
 *
 * The program must find everything as the caller left it: signal mask and dispositions,
 * descriptors, process group, limits. So leakwatch installs no handler at all: it blocks every
 * signal, fetches them one by one (follow.h), and each child gets the caller's mask back just
 * before exec. */
#ifndef LIVE_CHILD_H
#define LIVE_CHILD_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct child {
    pid_t pid;
    uint64_t start_time;
    long oom_kills; /* in its control group when it began: see oom.h */
};

/* Once, before the first start: blocks all signals and remembers what was. */
void child_block_signals(void);

/* What was, for when leakwatch itself must die of a signal. */
void child_restore_signals(void);

struct launch {
    const char *path; /* what to exec; a text without "#!" goes to sh, as execvp does it */
    char **argv, **envp;
    const char *cwd; /* NULL: here */
    int output;      /* becomes stdout and stdin becomes /dev/null; -1: all three untouched */
};

/* Returns -1 when exec was seen to succeed, else 125, 126 or 127, and said why. */
int child_start(struct child *child, const struct launch *launch);

/* Waits for its end only. Returns the wait status. */
int child_wait(const struct child *child);

#endif
