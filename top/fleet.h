/* fleet.h - all processes that run under libleak, from one update to the next. A process is
 * recognized again, so that its sites are symbolized once, and dropped when it ends.
 *
 * Processes of one program share the symbols of its files until the last of them has ended.
 *
 * Counts of events never go back here: sums read while the process moves them may be a little lower
 * than before, and Prometheus would take that for a restart of the process.
 */
#ifndef TOP_FLEET_H
#define TOP_FLEET_H

#include "common/processes/process_list.h"
#include "top/heap_snapshot.h"

/* The processes that run one program, by its name. */
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
    struct heap_snapshot *snapshot; /* of the last update; NULL = it could not be read */
    uint64_t allocs, frees;         /* since it started; never lower than before */
    bool is_running;                /* it was found by the current update */
};

struct fleet {
    struct fleet_member *at;
    size_t count, room;
    struct fleet_program *programs;
    uint64_t time_ns; /* of the last update */
};

/* Takes a snapshot of each process in finds and takes over its entries. A zeroed fleet is empty. */
void fleet_update(struct fleet *fleet, struct process_list *finds);
void fleet_end(struct fleet *fleet);

#endif
