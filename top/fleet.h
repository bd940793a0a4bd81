/* fleet.h - reads all running processes that use libleak, again at each update. A process that was
 * seen before is recognized, so that its sites are symbolized only once; it is removed when it
 * ends.
 *
 * Processes of one program share the symbols of its files until the last of them has ended.
 *
 * Numbers of calls never decrease here. When they are read while the process changes them, they may
 * be a little lower than before, and Prometheus would take that for a restart of the process.
 */
#ifndef TOP_FLEET_H
#define TOP_FLEET_H

#include "common/processes/process_list.h"
#include "top/heap_snapshot.h"

/* A program that one or several of the processes run, identified by its name. */
struct fleet_program {
    char *name;
    struct arena *mem;
    struct resolver *resolver;
    size_t members;
    struct fleet_program *next;
};

struct fleet_member {
    struct listed_process found;
    struct fleet_program *program;
    struct snapshot_reader reader;
    /* from the last update; NULL = the recording file could not be read */
    struct heap_snapshot *snapshot;
    /* numbers of calls since the process started; they never decrease */
    uint64_t allocs, frees;
    struct fleet_rate {
        bool known;
        double bytes; /* change of the live bytes per second, since the previous update */
    } rate;
    bool is_running; /* the current update has found the process */
};

struct fleet {
    struct fleet_member *at;
    size_t count, room;
    struct fleet_program *programs;
    uint64_t time_ns; /* time of the last update */
};

/* Takes a snapshot of each process in `finds`, and takes over the entries of `finds`. A zeroed
 * fleet is empty. */
void fleet_update(struct fleet *fleet, struct process_list *finds);
void fleet_end(struct fleet *fleet);

/* ---- Rows: a list of all processes, as plain data -------------------------------------------- */

struct fleet_row {
    int32_t pid;
    char *name, *path; /* path: of its recording file */
    bool readable;     /* the recording file could be read, so the fields below are known */
    bool sampled;
    uint64_t bytes, peak; /* live bytes, and the most that were live at one time; bytes <= peak */
    uint64_t lost_bytes, lost_blocks;
    /* time of the last leak check; 0 = there was none, so nothing is known about lost blocks */
    uint64_t leak_check_ns;
    size_t growing; /* number of growing sites */
    struct fleet_rate rate;
    uint64_t started_ns;
};

struct fleet_rows {
    /* processes with growing sites come first; each part is sorted by live bytes */
    struct fleet_row *at;
    size_t count;
    uint64_t time_ns;
};

struct fleet_rows *fleet_rows_make(const struct fleet *fleet);
void fleet_rows_free(struct fleet_rows *rows); /* rows may be NULL */

#endif
