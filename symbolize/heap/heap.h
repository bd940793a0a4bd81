/* heap.h - describes what the last leak check found in the heap, with names: roots, paths, owners,
 * single blocks.
 */
#ifndef SYMBOLIZE_HEAP_HEAP_H
#define SYMBOLIZE_HEAP_HEAP_H

#include "common/model/model.h"
#include "common/names/resolve.h"
#include "common/sites/sites.h"
#include "common/store/store.h"

/* ---- roots.c: roots and the paths from them ---------------------------------------------------
 *
 * A root is a word outside the heap that points to a block. A path leads from a root to a block. A
 * global is named by its symbol and, with debug information, its line; a word on a stack by the
 * function whose frame it lies in; others by their thread or mapping. Each root is named once,
 * however many paths begin there. */

struct roots {
    struct arena *mem;
    struct signatures *signatures;
    const struct store *store;
    /* index of a root in the leak check -> its description; NULL = not described yet */
    const struct root **named;
};

struct roots roots_begin(struct arena *mem, struct signatures *signatures);

/* Describes a root. index: position in the leak check's list of roots. */
const struct root *roots_describe(struct roots *roots, uint32_t index);

/* Describes a root that is in no list of the leak check, but is given here. */
const struct root *roots_describe_word(struct roots *roots, const struct leak_held *held);

/* Finds the module (program or library) whose data contains an address. If the leak check recorded
 * no build-id, the module comes from the module table of the store, so that the names never come
 * from another file. False: no module has the address in its data. */
bool roots_find_module(const struct store *store, uint64_t address, struct store_module *found);

/* Returns the module of the program itself; NULL = unknown. */
const struct store_module *roots_program_module(const struct store *store);

/* Words that stable reports have in place of the description of a mapping, whose address differs
 * from run to run. */
#define ROOTS_MAPPING "a mapping"

/* ---- root_paths, also in roots.c: from a root to a block ----------------------------------------
 *
 * A path begins with a root and goes from block to block, each named by its allocation site. The
 * middle of a long path is left out. */

struct longest_path {
    const struct path *path; /* NULL = no path was made */
    uint64_t bytes;
};

struct root_paths {
    struct arena *mem;
    struct signatures *signatures;
    const struct store *store;
    struct roots roots;
    const struct frame **titles; /* site -> title frame of its stack; NULL = not looked up yet */
    /* root of the leak check -> the path from it to the record with most bytes */
    struct longest_path *longest;
};

struct root_paths root_paths_begin(struct arena *mem, struct signatures *signatures);
void root_paths_end(struct root_paths *paths);

/* Requests the stacks that paths need, before signatures are resolved. */
void root_paths_request(struct signatures *signatures);

/* Makes the path to result `found` of the leak check; NULL when the leak check recorded none.
 * bytes: number of bytes of the record that the path leads to. */
const struct path *root_paths_make(struct root_paths *paths, uint32_t found, uint64_t bytes);

/* Returns the title frame of a site's stack, from the cache `titles`; NULL = unknown. */
const struct frame *root_paths_site_frame(struct root_paths *paths, uint32_t site);

/* ---- owners.c: the roots that keep most memory alive, and how that grew -----------------------
 *
 * An owner is all roots of one name. The last leak check counted how much memory each owner keeps
 * alive. The recording file has series of sizes over time for sites, not for owners. So the growth
 * of an owner is the growth of the sites that belong to this owner alone, if they hold nearly all
 * of its memory; otherwise, or if these sites are too small for a series, it is unknown. */

/* Fills in the owners of a process, the one with most bytes first. All paths of the process must be
 * made before. */
void owners_fill(struct root_paths *paths, struct growth_series *growth_series,
                 struct process *process);

/* ---- block_samples.c: the largest blocks of each record, with their first bytes -------------- */

#define BLOCK_SAMPLES_DEFAULT 4
#define BLOCK_SAMPLES_MAX 64 /* limit with the option --blocks */

/* The largest sample blocks of one record; all zero = none. */
struct block_samples {
    /* indices of samples in the leak check, the largest block first */
    uint32_t index[BLOCK_SAMPLES_MAX];
    size_t count;
};

/* Adds the sample blocks of a result of the leak check; keeps the `most` largest. */
void block_samples_add(struct block_samples *samples, size_t most,
                       const struct store_leak_check *look, const struct store_found *found);

/* Finds the thread that allocated a block. low: the low 16 bits of the thread's serial, which are
 * all that a block's data has. */
struct thread_ref block_samples_thread(struct arena *mem, const struct store *store, uint16_t low);

/* Fills in record->samples. */
void block_samples_fill(const struct block_samples *samples, struct arena *mem,
                        const struct store *store, struct record *record);

/* ---- dropped_pointers.c: what freed the owner of lost blocks ----------------------------------
 *
 * Code that frees a block should often free the blocks to which that block points, too. The
 * recording file has pairs of sites: lost blocks of one site to which freed blocks of another site
 * (the former owner) pointed. Of several pairs of one record the report shows the pair with most
 * blocks. */

struct dropped_pointers {
    const struct store *store;
    /* site of lost blocks -> index + 1 of its first pair; NULL = there are no pairs */
    uint32_t *first;
    uint32_t *next; /* pair -> index + 1 of the next pair with the same site of lost blocks */
};

struct dropped_pointers dropped_pointers_begin(const struct store *store);
void dropped_pointers_end(struct dropped_pointers *orphans);

/* Fills in record->orphaned: where the former owner of the record's blocks was freed. */
void dropped_pointers_fill(const struct dropped_pointers *orphans, struct free_sites *frees,
                           struct site_list sites, struct record *record);

/* ---- interior_pointers.c: the pointers to blocks that no pointer to their start holds -------- */

struct interiors {
    const struct store *store;
    /* number of a record sum (struct record_sum) -> index + 1 of its first row in the leak check's
     * list of interior pointers; NULL = the list is empty */
    uint32_t *first;
    uint32_t *next; /* row -> index + 1 of the next row of the same record sum */
};

/* Links the rows of interior pointers to their record sums. sum_of_found: for each result of the
 * leak check, the number of the record sum it belongs to, from 1 to sums; 0 = none. */
struct interiors interiors_begin(const struct store *store, const uint32_t *sum_of_found,
                                 size_t sums);
void interiors_end(struct interiors *interiors);
/* Requests the stacks of the blocks that contain interior pointers, before signatures are
 * resolved. */
void interiors_request(struct signatures *signatures);
/* Fills in record->interiors from the rows of the record sum with the number `sum`, from 1. */
void interiors_fill(const struct interiors *interiors, struct root_paths *paths, uint32_t sum,
                    struct record *record);

/* ---- loss_times.c: between which leak checks blocks were lost ---------------------------------- */

struct loss_times {
    const struct store *store;
    /* site -> index + 1 of its row in the leak check's losses; NULL = there are no rows */
    uint32_t *row;
};

struct loss_times loss_times_begin(const struct store *store);
void loss_times_end(struct loss_times *times);
/* Fills in record->first_lost and last_lost from the leak check's rows about the record's sites. */
void loss_times_fill(const struct loss_times *times, struct site_list sites, struct record *record);

/* ---- leak_check_info.c: how the last leak check was made ------------------------------------- */

/* Fills in the last leak check, the threads and the milestones of a process. */
void leak_check_info_fill(struct arena *mem, struct resolver *resolver, const struct store *store,
                          struct process *process);

/* Returns a sentence about a leak check that failed; NULL when none failed. */
const char *leak_check_info_missing(struct arena *mem, const struct store *store);

/* ---- address_info.c: which block is at an address, and what points to it ----------------------
 *
 * The answer is known only if the last leak check was made for that address, by leakctl who. */

struct address_info_options {
    bool wanted;
    uint64_t address;
};

/* Fills in process->who, if options->wanted. */
void address_info_fill(struct arena *mem, struct resolver *resolver, const struct store *store,
                       const struct address_info_options *options, struct process *process);

/* ---- when_lost.c: where the last pointer to a block was lost (follow_blocks=) ------------------ */

/* Adds the places at which followed blocks were lost to the records of the process with the call
 * stacks of these blocks, if they are blocks of the same record there. run: the number, from 1, of
 * the further run of the program that the store is of; 0: it is that of the process itself. A run
 * after the first one with results for a record followed only the chosen block of the record and
 * knows its place better. Returns the number of followed blocks that belong to a record. */
size_t when_lost_fill(struct arena *mem, struct resolver *resolver, const struct store *store,
                      uint32_t run, struct process *process);

#endif
