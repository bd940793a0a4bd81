/* thread_choice.h - chooses the thread of a process to stop next: the most suitable threads
 * first.
 *
 * A stop may end a system call, or begin its time limit again, so a thread that was not at a safe
 * place is not stopped again while it sleeps in the same call: its stack has not changed. */
#ifndef ATTACH_THREAD_CHOICE_H
#define ATTACH_THREAD_CHOICE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define THREAD_CALL_SIZE 256 /* bytes for the text of /proc/PID/task/TID/syscall */

struct refused_thread;

struct thread_choice {
    pid_t pid;
    pid_t *tid;    /* threads to try now, the most suitable first */
    size_t *place; /* for each thread of tid[], its index in call[] */
    size_t count;
    char (*call)[THREAD_CALL_SIZE]; /* for each thread of the process its system call when the
                                     * threads were listed */
    size_t threads;                 /* number of threads of the process */
    struct refused_thread *refused;
    size_t refused_count;
};

/* Fills tid[] with the threads that the process has now. */
void thread_choice_list(struct thread_choice *choice);
/* Records that thread number i of the list was stopped and was at no safe place. */
void thread_choice_refuse(struct thread_choice *choice, size_t i);
void thread_choice_end(struct thread_choice *choice);

#endif
