/* find.h - which processes under libleak run now? Found by their stores, in the directories where
 * programs and leakrun put them. Nothing is asked of the processes themselves. */
#ifndef COMMON_PROCESSES_RUNNING_H
#define COMMON_PROCESSES_RUNNING_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A process, and its store: of several, after an exec, the newest. */
struct found {
    char *path;
    char *name; /* of its program, as the name of the store has it */
    pid_t pid;
    uint64_t start_time; /* with the pid: a reused one is another process */
    uint64_t started_ns;
};

struct finds {
    struct found *at; /* in the order they started */
    size_t count;
};

/* Where to look: what the user told the reader, else what the programs are told by files and the
 * environment; NULL: the default places. For the caller to free. */
char *find_directory(const char *told);

/* In `dir` and in the sessions of leakrun below it; NULL: in the default places. */
struct finds find_running(const char *dir);
/* The same of those that run no more and have left one. */
struct finds find_dead(const char *dir);
void find_end(struct finds *finds);
void find_free(struct found *found); /* that was taken out of the finds */

/* Leaves those with that pid, or else of that name. */
void find_select(struct finds *finds, const char *word);

#endif
