/* child.h - starting programs (the user's, and leakreport), and standing for them while they run.
 *
 * The program must find everything as the caller left it: signal mask and dispositions,
 * descriptors, process group, limits. So leakwatch installs no handler at all: it blocks every
 * signal, fetches them one by one, and each child gets the caller's mask back just before exec.
 *
 * To the caller of leakrun, leakwatch stands for the program: signals sent to leakwatch reach the
 * program, a stop of the program stops leakwatch, and leakwatch ends when and as the program ended.
 * Signals that the kernel sends from the terminal go to the whole process group, so the program has
 * them already and leakwatch only survives them. */
#ifndef LIVE_CHILD_H
#define LIVE_CHILD_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct child {
    pid_t pid;
    uint64_t start_time;
    long oom_kills; /* in its control group before it started: oom_kill_count() */
};

/* Blocks all signals and remembers the mask; called once, before the first start. */
void child_block_signals(void);

struct launch {
    const char *path; /* what to exec; a text without "#!" goes to sh, as execvp does it */
    char **argv, **envp;
    const char *cwd; /* NULL: here */
    int output;      /* becomes stdout and stdin becomes /dev/null; -1: all three untouched */
    /* Stands for an earlier run: stdout and stderr become /dev/null, and so does stdin unless it
     * keeps its input; addresses are not randomized. */
    bool repeats, keeps_input;
    bool no_sigpipe; /* ignored, so that a reader that leaves does not end it */
};

/* Returns -1 when exec succeeded, else 125, 126 or 127 after a message. */
int child_start(struct child *child, const struct launch *launch);

/* Waits for the end only. Returns the wait status. */
int child_wait(const struct child *child);

/* Forwards signals and stops until the end. Returns the wait status. All signals are blocked. */
int child_supervise(const struct child *child);

/* Ends leakwatch as wait_status says: with the same status, or by the same signal without a core.
 */
void exit_like_child(int wait_status) __attribute__((noreturn));

#endif
