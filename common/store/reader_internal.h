/* reader_internal.h - the parts of the reader of recording files: chunks.c finds chunks, and
 * read_*.c parse them.
 *
 * chunks.c knows nothing of the meaning of records. It finds each valid chunk, cuts it off where
 * the image ends, and divides arrays into runs of records that are not in holes. It checks all
 * numbers from the file, so no run ever reaches outside of the image.
 *
 * read_file.c calls the parts in this order: packed chunks, with records of any length, in the
 * order of the file; arrays of records of one size, ascending by id; counts, which need the sites;
 * then frees and the leak check, which need sites and counts. Each part checks its records and
 * counts in `damaged` those that are invalid.
 */
#ifndef COMMON_STORE_READER_INTERNAL_H
#define COMMON_STORE_READER_INTERNAL_H

#include <string.h>

#include "leak_store.h"
#include "common/store/reader.h"

/* ---- Chunks, and runs of consecutive records (chunks.c) -------------------------------------- */

struct chunk {
    uint32_t type;
    uint64_t first;      /* id of the first record */
    size_t payload, end; /* offsets in the image: payload <= end <= image.size */
    size_t length;       /* length of the payload as the file says, but payload + length <= end */
};

struct chunks {
    struct chunk *chunk;
    size_t count, capacity;
    size_t skipped; /* number of pages that are neither empty nor part of a valid chunk */
};

/* Finds the chunks of an image. used: the number of bytes that the header says are in use, 0 =
 * unknown. chunks_end() frees the result. */
struct chunks chunks_find(const struct store_image *image, uint64_t used);
void chunks_end(struct chunks *chunks);

/* Returns the first chunk of a type, for types of which a process has one chunk; NULL = none. */
const struct chunk *chunks_first(const struct chunks *chunks, uint32_t type);

/* A run: consecutive records of an array, all inside the image. */
struct run {
    const uint8_t *at;
    uint64_t first; /* id of the first record */
    size_t count;
    size_t base; /* index of this run's first record in the array into which the caller copies the
                  * records of all runs */
};

struct runs {
    struct run *run;
    size_t count, capacity;
};

/* Appends the runs (pieces of consecutive records) of an array that begins `skip` bytes into the
 * payload and has at most `limit` records of `size` bytes. Records in holes are left out: they were
 * never published. */
void runs_add(struct runs *runs, const struct store_image *image, const struct chunk *chunk,
              size_t skip, size_t size, uint64_t limit);

/* Sorts runs (struct run) by their first id, sets each base (from `base` on), and drops runs whose
 * ids overlap those of an earlier run or exceed 32 bits. Returns how many it dropped; *total
 * becomes the sum of all counts. */
size_t runs_index(struct runs *runs, size_t base, size_t *total);

/* Returns the index of the record with this id, or SIZE_MAX. Call runs_index() first. */
size_t runs_find(const struct runs *runs, uint64_t id);

void runs_end(struct runs *runs);

/* ---- The parts of the reader ----------------------------------------------------------------- */

struct reader {
    const struct store_image *image;
    struct store *store;
    struct runs nodes, sites, threads, variances, temporary, freed;
    size_t module_capacity, code_capacity, recent_capacity, resource_capacity;
    size_t damaged; /* number of records that were left out */
};

/* Copies record number `index` of an array at `at`, whose records of `size` bytes may be
 * unaligned. */
static inline void copy_record(void *record, const uint8_t *at, size_t index, size_t size)
{
    memcpy(record, at + index * size, size);
}

/* Reads a chunk of type PROCESS, MODULES, CODES, OPTIONS, OWN or SUPPRESSIONS; ignores others. */
void read_packed(struct reader *reader, const struct chunk *chunk);
void read_packed_end(struct reader *reader);
/* Reads the struct leak_module records in `length` bytes at `at` into an array in the arena, up
 * to the first invalid one, which counts as damaged. spans: gets the address ranges of the
 * modules. */
struct store_module *read_module_list(struct reader *reader, const uint8_t *at, size_t length,
                                      size_t *count, struct interval_map *spans);

/* Remembers where the records of a chunk of type THREADS, NODES, SITES, VARIANCES, TEMPORARY or
 * FREED are. */
void read_arrays_note(struct reader *reader, const struct chunk *chunk);
/* Reads threads, nodes and sites from the chunks that read_arrays_note() has remembered. */
void read_arrays(struct reader *reader);
/* Converts the id of a node to its index, which must be below `limit`, or to a root. Any other
 * id becomes STORE_ROOT_MISSING and counts as damaged. */
uint32_t read_node(struct reader *reader, uint32_t id, size_t limit);

/* Reads TAGS, the names of the tags that sites have by number. Must run before read_counts(),
 * which removes sites. */
void read_tags(struct reader *reader, const struct chunks *chunks);
/* Reads SLOTS and adds them to their sites, as the equation of leak_store.h says; then computes
 * live blocks and, if blocks were sampled, their variance. Removes sites that were never
 * published, so indices of sites are final only after this. */
void read_counts(struct reader *reader, const struct chunks *chunks);

/* Reads FREED and RECENT: where blocks were freed, and the last frees of each thread. */
void read_frees(struct reader *reader, const struct chunks *chunks);

/* Reads EVENTS: bad frees. */
void read_events(struct reader *reader, const struct chunks *chunks);
/* Reads RESOURCES: resources other than memory. Must run after the nodes are read. */
void read_resources(struct reader *reader, const struct chunk *chunk);
/* Reads CRASH: the signal that killed the process. */
void read_crash(struct reader *reader, const struct chunks *chunks);

/* Reads FOLLOWED: where the last pointers to some blocks were lost. Must run after the sites are
 * read. */
void read_followed(struct reader *reader, const struct chunks *chunks);

/* Reads SNAPSHOT: the last leak check, and a later one that failed. */
void read_leak_check(struct reader *reader, const struct chunks *chunks);

/* Reads MILESTONES: marks and requested leak checks. */
void read_milestones(struct reader *reader, const struct chunks *chunks);
/* Reads HISTORY and ROWS: the size of the heap and of some sites over time. Must run after the
 * sites are read. */
void read_history(struct reader *reader, const struct chunks *chunks);

#endif
