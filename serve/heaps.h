/* heaps.h - keeps all processes that the page shows. Their recording files are read once at each
 * interval, however many requests there are, so requests cost the processes nothing.
 *
 * One thread reads, another one answers requests: pointers in a heap_process are valid only between
 * heaps_lock() and heaps_unlock(). */
#ifndef SERVE_HEAPS_H
#define SERVE_HEAPS_H

#include <pthread.h>

#include "serve/marks.h"
#include "top/fleet.h"

#define ACTION_TEXT_SIZE 512

/* Data that only the page has about a process. It belongs to the recording file `path`. */
struct heap_process {
    char *path;
    struct marks marks;
    /* the last action that a user requested, and its result; "" = none */
    char action[ACTION_TEXT_SIZE];
    bool is_running;
};

struct heaps {
    char *dir;           /* --dir; NULL: the default directories */
    const char *process; /* pid or name of the only process to show; NULL: show all */
    pthread_mutex_t lock;
    struct fleet fleet;
    struct heap_process *at;
    size_t count, room;
};

struct heaps heaps_begin(const char *dir, const char *process);
void heaps_update(struct heaps *heaps);
void heaps_end(struct heaps *heaps);

void heaps_lock(struct heaps *heaps);
void heaps_unlock(struct heaps *heaps);

/* Finds a process. NULL: no such process runs, or its recording file cannot be read. */
const struct fleet_member *heaps_find(const struct heaps *heaps, pid_t pid);
/* Returns the page's own data about a process that heaps_find() found. */
struct heap_process *heaps_notes(struct heaps *heaps, const struct fleet_member *member);
/* Stores the result of an action, if the process still runs. Locks `heaps` itself. */
void heaps_note_action(struct heaps *heaps, const char *path, const char *text);

#endif
