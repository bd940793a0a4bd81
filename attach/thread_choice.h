/* thread_choice.h - which thread of a process to stop next: those that suit best come first.
 *
 * Each stop makes a call with a time limit begin anew, so a thread that was refused is left alone
 * while it sleeps in the same call: its stack has not changed. */
#ifndef ATTACH_THREAD_CHOICE_H
#define ATTACH_THREAD_CHOICE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define THREAD_CALL_SIZE 256 /* /proc/PID/task/TID/syscall */

struct refused_thread;

struct thread_choice {
    pid_t pid;
    pid_t *tid;    /* the threads to try now, best first */
    size_t *place; /* of each in call */
    size_t count;
    char (*call)[THREAD_CALL_SIZE]; /* of all threads, as they were listed */
    size_t threads;                 /* of the process */
    struct refused_thread *refused;
    size_t refused_count;
};

/* Lists the threads anew. */
void thread_choice_list(struct thread_choice *choice);
/* Number i of the list was stopped in vain. */
void thread_choice_refuse(struct thread_choice *choice, size_t i);
void thread_choice_end(struct thread_choice *choice);

#endif
