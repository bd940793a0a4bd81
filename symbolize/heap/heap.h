/* heap.h - what the last leak check found in the heap, with names: roots, paths, owners, single
 * blocks.
 */
#ifndef SYMBOLIZE_HEAP_HEAP_H
#define SYMBOLIZE_HEAP_HEAP_H

#include "common/model/model.h"
#include "common/names/resolve.h"
#include "common/sites/sites.h"
#include "common/store/store.h"

/* ---- roots.c: roots and the paths from them ---------------------------------------------------
 *
 * A root is a word outside the heap that points to a block. A global is named by its symbol and,
 * with debug information, its line; a word on a stack by the function whose frame it lies in;
 * others by their thread or mapping. Each root is named once, however many paths begin there. */

struct roots {
    struct arena *mem;
    struct signatures *signatures;
    const struct store *store;
    const struct root **named; /* by root of the leak check; NULL = not named yet */
};

struct roots roots_begin(struct arena *mem, struct signatures *signatures);

/* Describes a root. index: in the leak check's roots. */
const struct root *roots_describe(struct roots *roots, uint32_t index);

/* A root of the store that no list of the leak check has. */
const struct root *roots_describe_word(struct roots *roots, const struct leak_held *held);

/* The object whose data contains an address. Without a build-id in the leak check, takes the module
 * table's entry of the object: no other file may supply a name. */
bool roots_find_module(const struct store *store, uint64_t address, struct store_module *found);

/* The program itself; NULL = unknown. */
const struct store_module *roots_program_module(const struct store *store);

/* Replaces the words of a mapping, whose address differs from run to run. */
#define ROOTS_MAPPING "a mapping"

/* A path begins with a root and goes from block to block, each named by its allocation site. The
 * middle of a long path is left out. */

struct longest_path {
    const struct path *path; /* NULL = none made */
    uint64_t bytes;
};

struct root_paths {
    struct arena *mem;
    struct signatures *signatures;
    const struct store *store;
    struct roots roots;
    const struct frame **titles;  /* by site; NULL = not looked up yet */
    struct longest_path *longest; /* by root of the leak check: the path to the most bytes */
};

struct root_paths root_paths_begin(struct arena *mem, struct signatures *signatures);
void root_paths_end(struct root_paths *paths);

/* Requests the stacks that paths need, before signatures are resolved. */
void root_paths_request(struct signatures *signatures);

/* The path to result `found` of the leak check, NULL when none was recorded. bytes: of the
 * record. */
const struct path *root_paths_make(struct root_paths *paths, uint32_t found, uint64_t bytes);

/* The title frame of a site, cached; NULL = unknown. */
const struct frame *root_paths_site_frame(struct root_paths *paths, uint32_t site);

/* ---- owners.c: the roots that keep most memory alive, and how that grew -----------------------
 *
 * An owner is all roots of one name. One leak check counted what it keeps, and there is no
 * series of owners: series are of sites. But a leak check tells which sites an owner's blocks
 * are of. So an owner's growth is that of the sites that belong to it alone, when they are
 * nearly all of what it keeps; where other owners share its sites, or these are too small for a
 * series, it is unknown. */

/* Fills in the owners of a process, by falling bytes, after all its paths were made. */
void owners_fill(struct root_paths *paths, struct growth_series *growth_series,
                 struct process *process);

/* ---- block_samples.c: the largest blocks of each record, with their first bytes -------------- */

#define BLOCK_SAMPLES_DEFAULT 4
#define BLOCK_SAMPLES_MAX 64 /* with --blocks */

/* The samples of one record; all zero = none. */
struct block_samples {
    uint32_t index[BLOCK_SAMPLES_MAX]; /* in the leak check, by falling size */
    size_t count;
};

/* Keeps at most `most`. */
void block_samples_add(struct block_samples *samples, size_t most,
                       const struct store_leak_check *look, const struct store_found *found);

/* The thread of a block, which holds only the low bits of the thread's serial. */
struct thread_ref block_samples_thread(struct arena *mem, const struct store *store, uint16_t low);

/* Fills in record->samples. */
void block_samples_fill(const struct block_samples *samples, struct arena *mem,
                        const struct store *store, struct record *record);

/* ---- dropped_pointers.c: what freed the owner of lost blocks ----------------------------------
 *
 * The code that freed a block which pointed to lost blocks mostly should have freed them, too. The
 * leak check records pairs of single blocks; of several pairs of one record the one with most
 * blocks is shown. */

struct dropped_pointers {
    const struct store *store;
    uint32_t *first; /* by site: index + 1 of its first pair; NULL = there are none */
    uint32_t *next;  /* by pair */
};

struct dropped_pointers dropped_pointers_begin(const struct store *store);
void dropped_pointers_end(struct dropped_pointers *orphans);

/* Fills in record->orphaned. */
void dropped_pointers_fill(const struct dropped_pointers *orphans, struct free_sites *frees,
                           struct site_list sites, struct record *record);

/* ---- interior_pointers.c: how blocks are held that no pointer to their start holds ----------- */

struct interiors {
    const struct store *store;
    uint32_t *first; /* by sum: index + 1 of its first row; NULL = there are none */
    uint32_t *next;  /* by row */
};

/* Begins the sums. sum_of_found: for each result of the leak check, the sum it belongs to, from 1
 * to sums; 0 = none. */
struct interiors interiors_begin(const struct store *store, const uint32_t *sum_of_found,
                                 size_t sums);
void interiors_end(struct interiors *interiors);
/* Requests the stacks of the holders, before signatures are resolved. */
void interiors_request(struct signatures *signatures);
/* Fills in record->interiors with the rows of a sum. */
void interiors_fill(const struct interiors *interiors, struct root_paths *paths, uint32_t sum,
                    struct record *record);

/* ---- loss_times.c: between which leak checks blocks were lost ---------------------------------- */

struct loss_times {
    const struct store *store;
    uint32_t *row; /* by site: index + 1 of its row; NULL = there are none */
};

struct loss_times loss_times_begin(const struct store *store);
void loss_times_end(struct loss_times *times);
/* Fills in record->first_lost and last_lost. */
void loss_times_fill(const struct loss_times *times, struct site_list sites, struct record *record);

/* ---- leak_check_info.c: how the last leak check was made ------------------------------------- */

/* Fills in look, threads and milestones of a process. */
void leak_check_info_fill(struct arena *mem, struct resolver *resolver, const struct store *store,
                          struct process *process);

/* A sentence about a leak check that failed, NULL when there was none. */
const char *leak_check_info_missing(struct arena *mem, const struct store *store);

/* ---- address_info.c: which block is at an address, and what points to it ----------------------
 *
 * Known if the last leak check was made for that address (leakctl who). */

struct address_info_options {
    bool wanted;
    uint64_t address;
};

/* Fills in process->who, when it is wanted. */
void address_info_fill(struct arena *mem, struct resolver *resolver, const struct store *store,
                       const struct address_info_options *options, struct process *process);

/* ---- when_lost.c: where the last pointer to a block was lost (follow_blocks=) ------------------ */

/* Adds what a recording says of followed blocks to the records of the process that have the same
 * call stacks; it may be the recording of another run. refine: of a third run, which tells more of
 * the block whose place an earlier one gave. Returns how many such blocks there are. */
size_t when_lost_fill(struct arena *mem, struct resolver *resolver, const struct store *store,
                      bool refine, struct process *process);

#endif
