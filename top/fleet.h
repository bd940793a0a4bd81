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
    struct fleet_rate {
        bool known;
        double bytes; /* per second, since the update before */
    } rate;
    bool is_running; /* it was found by the current update */
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

/* ---- Rows: what a list of all processes says, as plain data ---------------------------------- */

struct fleet_row {
    int32_t pid;
    char *name, *path; /* path: of its recording */
    bool readable;     /* the numbers below are known */
    bool sampled;
    uint64_t bytes, peak; /* bytes <= peak */
    uint64_t lost_bytes, lost_blocks;
    uint64_t leak_check_ns; /* time of the last leak check, 0 = none: nothing is known of losses */
    size_t growing;         /* sites */
    struct fleet_rate rate;
    uint64_t started_ns;
};

struct fleet_rows {
    struct fleet_row *at; /* those with growing sites first, then by live bytes */
    size_t count;
    uint64_t time_ns;
};

struct fleet_rows *fleet_rows_make(const struct fleet *fleet);
void fleet_rows_free(struct fleet_rows *rows); /* NULL is allowed */

#endif
