/* build.h - stores become the model: what is known of each process, and which look the same. */
#ifndef SYMBOLIZE_BUILD_BUILD_H
#define SYMBOLIZE_BUILD_BUILD_H

#include "symbolize/records/group_records.h"
#include "symbolize/faults/recent_frees.h"
#include "symbolize/heap/address_info.h"

struct build_options {
    struct group_options group;
    struct recent_options recent;
    struct who_options who;
    const char *wrappers; /* functions that are never the headline; NULL = as it was recorded */
    const char *perf_map; /* pattern as of -o; NULL = where programs leave theirs */
    bool allocated;       /* what every stack allocated, too */
    bool content;         /* what blocks hold is told … */
    bool anonymous;       /* … but not now, nor who and where: see anonymize.h */
    bool stable; /* leave out what differs from run to run: pids, times, addresses, samples */
};

/* Adds one process to the report, which lives in mem. The store may go away afterwards, except
 * its arena when that is another one. */
void build_process(struct mem *mem, struct resolver *resolver, const struct store *store,
                   const struct build_options *options, struct process *process);

/* Once all processes are there: finds those that show the same. */
void build_finish(struct report *report, const struct build_options *options);

#endif
