/* targets.h - where a report goes: the list of --to, and one row a kind of place.
 *
 * The report is made once, in memory, and every place is given the same bytes. A place that does
 * not take them is said in one line; when none took them the report goes to stderr.
 */
#ifndef SYMBOLIZE_OUTPUT_TARGETS_H
#define SYMBOLIZE_OUTPUT_TARGETS_H

#include <stdbool.h>
#include <stddef.h>

#include "leak_targets.h"
#include "common/base/arena.h"
#include "common/model/model.h"
#include "symbolize/output/output_file.h"

struct target {
    struct leak_target where;
    bool closed; /* a descriptor that nobody has handed to us */
};

struct targets {
    struct target *at; /* the caller's: free() */
    size_t count, capacity;
};

/* Adds what the list names, each once. False: it makes no sense. Before anything is opened, for a
 * descriptor is somebody else's only as long as we have none of our own. The text stays the
 * caller's. */
bool targets_add(struct targets *targets, const char *list);
/* -o beside --to: it is what "file" means, and a target, whether that word was there or not. */
void targets_add_output(struct targets *targets, const char *pattern);

/* Would a terminal show it? all: and nothing else have it. */
bool targets_on_terminal(const struct targets *targets, bool all);

struct parcel {
    const char *text;
    size_t length;
    const struct process *process; /* for names of files, NULL = of none */
    enum output_way way;
    bool alarming; /* there is something in it that somebody should look at */
};

/* False: nobody has all of it. */
bool targets_deliver(struct mem *mem, const struct targets *targets, const struct parcel *parcel);

#endif
