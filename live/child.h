/* child.h - starts programs (the user's program, and leakreport), and makes leakwatch behave like
 * the program to its caller.
 *
 * The program must find everything as the caller left it: signal mask and dispositions,
 * descriptors, process group, limits. So leakwatch installs no handler at all: it blocks every
 * signal, fetches them one by one, and each child restores the signal mask of leakwatch's caller
 * just before exec.
 *
 * The caller of leakrun sees leakwatch as the program: signals sent to leakwatch reach the program,
 * when the program is stopped leakwatch stops, and leakwatch ends together with the program, with
 * its exit status or signal. Signals that the kernel sends from the terminal go to the whole
 * process group, so the program has received them already, and leakwatch only ignores them. */
#ifndef LIVE_CHILD_H
#define LIVE_CHILD_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct child {
    pid_t pid;
    uint64_t start_time;
    /* number of processes killed for lack of memory in the control group, before the program
     * started; from oom_kill_count() */
    long oom_kills;
    /* It is the leader of a session on another terminal than that of leakwatch, so keys that send
     * signals do not reach it. */
    bool apart;
};

/* Blocks all signals and remembers the signal mask. Call it once, before the first child is
 * started. */
void child_block_signals(void);

struct launch {
    const char *path; /* file to execute; a script without "#!" is run by sh, as execvp does */
    char **argv, **envp;
    const char *cwd; /* working directory; NULL: that of leakwatch */
    /* descriptor that becomes stdout, while stdin becomes /dev/null; -1: leave both unchanged */
    int output;
    /* This run repeats an earlier one: stdout and stderr become /dev/null, and without keeps_input
     * also stdin. Addresses are not randomized. terminal: descriptor of a terminal for all three,
     * whose session the child leads; 0: there is none. */
    bool repeats, keeps_input;
    int terminal;
    /* ignore SIGPIPE, so that the child does not end when the reader of its output ends */
    bool no_sigpipe;
};

/* Starts a child. Returns -1 when exec succeeded. Otherwise prints a message and returns the
 * exit status for leakwatch: 125, 126 or 127, as leakrun --help says. */
int child_start(struct child *child, const struct launch *launch);

/* Waits until the child ends, without forwarding signals. Returns the wait status. */
int child_wait(const struct child *child);

/* Forwards signals and stops until the child ends. Returns the wait status. All signals must be
 * blocked. */
int child_supervise(const struct child *child);

/* Does the same, and calls look() about once a second. */
int child_watch(const struct child *child, void (*look)(void *context), void *context);

/* Stops leakwatch by the signal that stopped the program, because the shell waits for leakwatch. */
void child_stop_like(int sig);

/* Says whether a signal asks a program to end, so that it can do what it does at its end. */
bool child_asks_for_end(int sig);
/* Says whether such a signal has come while child_supervise() waited for any child. */
bool child_end_was_requested(void);
/* Says whether a second one came for a program on another terminal, which killed it. */
bool child_end_was_forced(void);

/* Ends leakwatch in the way that wait_status says: with the exit status of the program, or by the
 * signal that killed it, but without a core file. */
void exit_like_child(int wait_status) __attribute__((noreturn));

#endif
