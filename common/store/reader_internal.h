/* reader_internal.h - what the parts of the reader share while a store is read.
 *
 * reader.c calls them in this order: packed chunks at once, each as it comes; arrays by their runs,
 * ascending by id; then the counts, which need the sites; then the frees and the look, which need
 * both. Every part checks what it takes in and counts in `damaged` what does not hold.
 */
#ifndef COMMON_STORE_READER_INTERNAL_H
#define COMMON_STORE_READER_INTERNAL_H

#include "common/store/chunks.h"
#include "common/store/store.h"

struct reading {
    const struct image *image;
    struct store *store;
    struct runs nodes, sites, threads, variances, freed;
    size_t module_capacity, recent_capacity, resource_capacity;
    size_t damaged; /* records left out */
};

/* PROCESS, MODULES, OPTIONS and SUPPRESSIONS; any other chunk is passed over. */
void read_packed(struct reading *reading, const struct chunk *chunk);
void read_packed_end(struct reading *reading);
/* One struct leak_module at `at`; how long it is, or 0: it does not hold, which is counted. */
size_t read_module(struct reading *reading, const uint8_t *at, size_t rest,
                   struct store_module *made);

/* THREADS, NODES, SITES, VARIANCES and FREED: their runs are noted … */
void read_arrays_note(struct reading *reading, const struct chunk *chunk);
/* … and then made into threads, nodes and sites. */
void read_arrays(struct reading *reading);
/* The index of a node of the file, below `limit`, or a root; counts what is neither. */
uint32_t read_node(struct reading *reading, uint32_t id, size_t limit);

/* The equation of leak_store.h: slots are added to their sites, then says what lives and, of
 * samples, how far off that may be. Leaves out sites that were never published, so indices of
 * sites hold from here on only. */
void read_counts(struct reading *reading, const struct chunks *chunks);

/* FREED and RECENT: where blocks were freed, and the last frees of each thread. */
void read_frees(struct reading *reading, const struct chunks *chunks);

/* EVENTS: what was released wrongly. */
void read_events(struct reading *reading, const struct chunks *chunks);
/* RESOURCES: what was open besides memory. Nodes have been read. */
void read_resources(struct reading *reading, const struct chunk *chunk);

/* SNAPSHOT: the last look, and a later one that could not be made. */
void read_look(struct reading *reading, const struct chunks *chunks);

/* TAGS: the names of what sites say by number. Before read_counts leaves sites out. */
void read_tags(struct reading *reading, const struct chunks *chunks);

/* MILESTONES: marks and looks that were asked for. */
void read_milestones(struct reading *reading, const struct chunks *chunks);

/* CRASH: the signal that killed. */
void read_crash(struct reading *reading, const struct chunks *chunks);

/* HISTORY and ROWS: the heap and some sites over time. Sites have their indices. */
void read_history(struct reading *reading, const struct chunks *chunks);

#endif
