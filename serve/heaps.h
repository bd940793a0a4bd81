/* heaps.h - all processes that the page shows, read again at each interval, whatever is requested: so
 * requests cost the processes nothing, and the recordings are not read more often for more readers.
 *
 * One thread reads, another one answers: what a heap_process points to is valid between heaps_lock()
 * and heaps_unlock(). */
#ifndef SERVE_HEAPS_H
#define SERVE_HEAPS_H

#include <pthread.h>

#include "serve/marks.h"
#include "top/fleet.h"

#define ACTION_TEXT_SIZE 512

/* What the page itself knows of a process; it belongs to the recording of that path. */
struct heap_process {
    char *path;
    struct marks marks;
    char action[ACTION_TEXT_SIZE]; /* the last action of a user, and its result; "" = none */
    bool is_running;
};

struct heaps {
    char *dir;           /* NULL: the default directories */
    const char *process; /* only that pid or name; NULL: all */
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

/* Finds a process. NULL: no such process runs, or its recording cannot be read. */
const struct fleet_member *heaps_find(const struct heaps *heaps, pid_t pid);
/* The notes on a process that heaps_find() found. */
struct heap_process *heaps_notes(struct heaps *heaps, const struct fleet_member *member);
/* Keeps the result of an action, if the process still runs. Takes the lock itself. */
void heaps_note_action(struct heaps *heaps, const char *path, const char *text);

#endif
