/* process_list.h - lists the processes that run under libleak, or did. It finds them by their
 * recording files, in the directories where programs and leakrun put them, and does not contact
 * the processes. */
#ifndef COMMON_PROCESSES_PROCESS_LIST_H
#define COMMON_PROCESSES_PROCESS_LIST_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A process and its recording file, after an exec the newest file. */
struct listed_process {
    char *path;
    char *name;    /* name for messages: `program`, or the name that ps shows if that differs */
    char *program; /* name of the program's file, taken from the name of the recording file */
    pid_t pid;
    uint64_t start_time; /* distinguishes the process from a later one with the same pid */
    uint64_t started_ns;
};

struct process_list {
    struct listed_process *at; /* the processes, in the order in which they started */
    size_t count;
    size_t newer; /* number of files that a newer libleak wrote and this program cannot read */
};

/* The directory to search for recording files: `given` by the user, else the one in configuration
 * files and environment; NULL: search the default places. The caller frees it. */
char *process_list_directory(const char *given);

/* Lists the running processes with recording files in `dir` or in leakrun sessions below it;
 * NULL: in the default places. */
struct process_list process_list_running(const char *dir);
/* Lists the processes that ended and left a recording file, in the directories that
 * process_list_running() searches. */
struct process_list process_list_dead(const char *dir);
void process_list_end(struct process_list *finds);
/* Frees an element that the caller took out of the list. */
void listed_process_free(struct listed_process *found);

/* Keeps only the processes with this pid, or if the word is no number, with this name or this
 * name of their program's file. */
void process_list_select(struct process_list *finds, const char *word);

#endif
