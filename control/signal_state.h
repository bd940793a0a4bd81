/* signal_state.h - whether a process can receive the signal of libleak, and if not, why:
 * /proc/PID/task/TID/status. */
#ifndef CONTROL_SIGNAL_STATE_H
#define CONTROL_SIGNAL_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Sums over the threads, without those that have ended and are still listed. */
struct signal_state {
    size_t threads;
    size_t stopped, traced; /* by a signal or by a debugger */
    size_t uninterruptible; /* in a system call that no signal interrupts */
    size_t blocking;        /* have the signal in their mask */
    bool caught;            /* the process has a handler for it */
    bool pending;           /* it was sent and not yet delivered */
    pid_t receiver;         /* the first thread that would handle it now; 0: there is none */
};

/* Adds a thread. text: its status file. */
void signal_state_add_thread(struct signal_state *state, const char *text, int signal);

/* Adds all threads. False: there is no such process, or none of its threads lives. */
bool signal_state_read(pid_t pid, int signal, struct signal_state *state);

enum signal_obstacle {
    OBSTACLE_NONE,
    OBSTACLE_STOPPED,
    OBSTACLE_TRACED,
    OBSTACLE_NO_HANDLER,
    OBSTACLE_BLOCKED,
    OBSTACLE_UNINTERRUPTIBLE
};

/* The first reason why the process cannot receive the signal now. */
enum signal_obstacle signal_state_obstacle(const struct signal_state *state);

#endif
