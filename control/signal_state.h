/* signal_state.h - finds out whether a process can receive libleak's signal, and if not, why. Reads
 * /proc/PID/task/TID/status.
 */
#ifndef CONTROL_SIGNAL_STATE_H
#define CONTROL_SIGNAL_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Counts of the process's threads. Threads that have ended but are still listed are not counted. */
struct signal_state {
    size_t threads;
    size_t stopped, traced; /* threads that are stopped by a signal, and by a debugger */
    size_t uninterruptible; /* threads in a system call that no signal interrupts */
    size_t blocking;        /* threads that block the signal */
    bool caught;            /* the process has a handler for the signal */
    bool pending;           /* the signal was sent and not yet delivered */
    /* the first thread that would receive the signal now; 0: there is none */
    pid_t receiver;
};

/* Adds a thread to the counts. text: content of its status file. */
void signal_state_add_thread(struct signal_state *state, const char *text, int signal);

/* Counts all threads. False: the process does not exist, or none of its threads lives. */
bool signal_state_read(pid_t pid, int signal, struct signal_state *state);

enum signal_obstacle {
    OBSTACLE_NONE,
    OBSTACLE_STOPPED,
    OBSTACLE_TRACED,
    OBSTACLE_NO_HANDLER,
    OBSTACLE_BLOCKED,
    OBSTACLE_UNINTERRUPTIBLE
};

/* Returns the first reason why the process cannot receive the signal now. */
enum signal_obstacle signal_state_obstacle(const struct signal_state *state);

#endif
