/* hearing.h - can a process hear our signal, and if not, why? As /proc/PID/task/TID/status has it.
 */
#ifndef CONTROL_HEARING_H
#define CONTROL_HEARING_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Sums over the threads that there are; one that has ended and is still listed is none. */
struct hearing {
    size_t threads;
    size_t stopped, traced; /* stand still, by a signal or for a debugger */
    size_t asleep;          /* in the kernel, where no signal comes through */
    size_t deaf;            /* keep the signal blocked */
    bool caught;            /* the process has a handler for it */
    bool waiting;           /* one is on its way already */
};

/* Adds a thread. text: its file. */
void hearing_add(struct hearing *hearing, const char *text, int signal);

/* Of all threads. False: there is no such process, or none of its threads lives. */
bool hearing_of(pid_t pid, int signal, struct hearing *hearing);

enum hears { HEARS, HEARS_STOPPED, HEARS_TRACED, HEARS_NO_HANDLER, HEARS_BLOCKED, HEARS_ASLEEP };

/* The first thing that stands in the way. */
enum hears hearing_says(const struct hearing *hearing);

#endif
