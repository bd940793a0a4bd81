/* reader_internal.h - what the parts of the reader share: the framing of a recording file, and the
 * parts themselves.
 *
 * The framing (chunks.c) knows nothing of the meaning of records: it finds each valid chunk, clips
 * it to what is there, and cuts arrays into runs of records that are not in holes. All numbers come
 * from the file and are checked there: no run ever reaches outside the image.
 *
 * read_file.c calls the parts in this order: packed chunks, each when it is met; arrays by their runs,
 * ascending by id; then the counts, which need the sites; then frees and the leak check, which need
 * both. Each part checks its records and counts in `damaged` those that are invalid.
 */
#ifndef COMMON_STORE_READER_INTERNAL_H
#define COMMON_STORE_READER_INTERNAL_H

#include <string.h>

#include "leak_store.h"
#include "common/store/reader.h"

/* ---- Chunks and runs (chunks.c) -------------------------------------------------------------- */

struct chunk {
    uint32_t type;
    uint64_t first;      /* id of the first record */
    size_t payload, end; /* offsets in the image: payload <= end <= image.size */
    size_t length;       /* as the file says, but payload + length <= end */
};

struct chunks {
    struct chunk *chunk;
    size_t count, capacity;
    size_t skipped; /* pages that begin with something other than a valid chunk */
};

/* Finds the chunks of an image. used: the number of bytes that the header says are in use, 0 =
 * unknown. chunks_end() frees the result. */
struct chunks chunks_find(const struct store_image *image, uint64_t used);
void chunks_end(struct chunks *chunks);

/* The first chunk of that type, for types that a process has one of; NULL = there is none. */
const struct chunk *chunks_first(const struct chunks *chunks, uint32_t type);

/* Consecutive records of an array, all inside the image. */
struct run {
    const uint8_t *at;
    uint64_t first; /* id of the first one */
    size_t count;
    size_t base; /* for the caller: the index of the first one in an array of all */
};

struct runs {
    struct run *run;
    size_t count, capacity;
};

/* Appends the runs of at most `limit` records of `size` bytes that begin `skip` bytes into the
 * payload. Records in holes are left out: they were never published. */
void runs_add(struct runs *runs, const struct store_image *image, const struct chunk *chunk,
              size_t skip, size_t size, uint64_t limit);

/* Sorts by first id, sets each base (from `base` on), and drops runs whose ids overlap those of an
 * earlier run or exceed 32 bits. Returns how many it dropped; *total is the sum of counts. */
size_t runs_index(struct runs *runs, size_t base, size_t *total);

/* The index of the record with this id, or SIZE_MAX. After runs_index(). */
size_t runs_find(const struct runs *runs, uint64_t id);

void runs_end(struct runs *runs);

/* ---- The parts ------------------------------------------------------------------------------- */

struct reader {
    const struct store_image *image;
    struct store *store;
    struct runs nodes, sites, threads, variances, temporary, freed;
    size_t module_capacity, code_capacity, recent_capacity, resource_capacity;
    size_t damaged; /* records left out */
};

/* Copies the record `index` of `size` bytes at `at`: records of a file may be unaligned. */
static inline void copy_record(void *record, const uint8_t *at, size_t index, size_t size)
{
    memcpy(record, at + index * size, size);
}

/* PROCESS, MODULES, CODES, OPTIONS, OWN and SUPPRESSIONS; passes over other chunks. */
void read_packed(struct reader *reader, const struct chunk *chunk);
void read_packed_end(struct reader *reader);
/* The struct leak_module records in `length` bytes at `at`: an array in the arena, and the ranges
 * of its modules. An invalid one, which is counted, ends it. */
struct store_module *read_module_list(struct reader *reader, const uint8_t *at, size_t length,
                                      size_t *count, struct interval_map *spans);

/* THREADS, NODES, SITES, VARIANCES, TEMPORARY and FREED: notes their runs ... */
void read_arrays_note(struct reader *reader, const struct chunk *chunk);
/* ... and makes threads, nodes and sites of them. */
void read_arrays(struct reader *reader);
/* The index of a node of the file that is below `limit`, or a root; counts any other id. */
uint32_t read_node(struct reader *reader, uint32_t id, size_t limit);

/* TAGS: the names of the tags that sites have by number. Before read_counts() leaves sites out. */
void read_tags(struct reader *reader, const struct chunks *chunks);
/* SLOTS: the equation of leak_store.h. Adds slots to their sites, then computes what is live and,
 * when blocks were sampled, its variance. Leaves out sites that were never published, so indices of
 * sites are final only from here on. */
void read_counts(struct reader *reader, const struct chunks *chunks);

/* FREED and RECENT: where blocks were freed, and the last frees of each thread. */
void read_frees(struct reader *reader, const struct chunks *chunks);

/* EVENTS: bad frees. */
void read_events(struct reader *reader, const struct chunks *chunks);
/* RESOURCES: what was open besides memory. After the nodes. */
void read_resources(struct reader *reader, const struct chunk *chunk);
/* CRASH: the signal that killed the process. */
void read_crash(struct reader *reader, const struct chunks *chunks);

/* FOLLOWED: where the last pointers to some blocks were lost. After the sites. */
void read_followed(struct reader *reader, const struct chunks *chunks);

/* SNAPSHOT: the last leak check, and a later one that failed. */
void read_leak_check(struct reader *reader, const struct chunks *chunks);

/* MILESTONES: marks and requested leak checks. */
void read_milestones(struct reader *reader, const struct chunks *chunks);
/* HISTORY and ROWS: the heap and some sites over time. After the sites. */
void read_history(struct reader *reader, const struct chunks *chunks);

#endif
