/* fleet.h - all the processes there are, from look to look: each is known again, so that its names
 * are looked up once, and leaves with its end.
 *
 * Processes of one program share what was looked up in its files, until the last of them has ended.
 *
 * What counts events never goes back: sums that were read while they were moved may be a little
 * less than those before, which who takes rates of them would call a restart.
 */
#ifndef TOP_FLEET_H
#define TOP_FLEET_H

#include "common/processes/process_list.h"
#include "top/glance.h"

/* A program that runs, by its name. */
struct program {
    char *name;
    struct arena *mem;
    struct resolver *resolver;
    size_t members;
    struct program *next;
};

struct member {
    struct listed_process found;
    struct program *program;
    struct glances glances;
    struct glance *glance;  /* of the last look; NULL = it could not be read */
    uint64_t allocs, frees; /* since it began */
    bool found_again;
};

struct fleet {
    struct member *at;
    size_t count, room;
    struct program *programs;
    uint64_t time_ns; /* of the last look */
};

/* Looks at those that were found, which become the fleet's. A zeroed fleet has none yet. */
void fleet_look(struct fleet *fleet, struct process_list *finds);
void fleet_end(struct fleet *fleet);

#endif
