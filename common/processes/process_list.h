/* process_list.h - which processes run under libleak now? Found by their recording files, in the
 * directories where programs and leakrun put them. The processes themselves are not contacted. */
#ifndef COMMON_PROCESSES_PROCESS_LIST_H
#define COMMON_PROCESSES_PROCESS_LIST_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A process and its recording file: after an exec the newest of several. */
struct listed_process {
    char *path;
    char *name; /* what ps shows of a running process, where the program's file has another name */
    char *program; /* the name of the program's file, as in the recording file's name */
    pid_t pid;
    uint64_t start_time; /* tells a process from a later one with the same pid */
    uint64_t started_ns;
};

struct process_list {
    struct listed_process *at; /* in the order they started */
    size_t count;
    size_t newer; /* files of a newer libleak, which this program cannot read */
};

/* The directory in which to search: `given` by the user, else named by configuration files and the
 * environment; NULL: the default places. The caller frees it. */
char *process_list_directory(const char *given);

/* The running processes of `dir` and of the leakrun sessions below it; NULL: of the default places.
 */
struct process_list process_list_running(const char *dir);
/* Lists the processes that have ended and left a file, in the same directories as the running
 * ones. */
struct process_list process_list_dead(const char *dir);
void process_list_end(struct process_list *finds);
void listed_process_free(struct listed_process *found); /* one that was taken out of the list */

/* Removes all but those with that pid, or if it is no number with that name, of either kind. */
void process_list_select(struct process_list *finds, const char *word);

#endif
