/* sites.h - what the allocation sites of a recording file tell about a record: its tags, its
 * verdicts after the last leak check, where its other blocks are freed, how it grew.
 */
#ifndef COMMON_SITES_SITES_H
#define COMMON_SITES_SITES_H

#include "common/base/arena.h"
#include "common/base/hashmap.h"
#include "common/model/model.h"
#include "common/sites/signature.h"
#include "common/store/store.h"

/* Indices of sites, each + 1, linked: from first through next[index], 0 at the end. */
struct site_list {
    uint32_t first;
    const uint32_t *next;
};

/* ---- tags.c: blocks summed up by the tags that the program gave them -------------------------
 *
 * A record holds the sums of its own blocks, the largest first; blocks without a tag are in none. A
 * report that shows several records as one sums them up again. */

struct tag_sums {
    struct tag_sum *sum;
    size_t count, capacity;
};

/* A zeroed struct is empty; tag_sums_end() leaves it so. The names must outlive it. */
void tag_sums_add(struct tag_sums *sums, const char *name, uint64_t bytes, uint64_t blocks);
void tag_sums_add_record(struct tag_sums *sums, const struct record *record);
void tag_sums_sort(struct tag_sums *sums);
/* Sorts the sums and copies them to record->tags. */
void tag_sums_fill(struct tag_sums *sums, struct arena *mem, struct record *record);
void tag_sums_end(struct tag_sums *sums);

/* ---- reconcile.c: the last leak check against what lives now ---------------------------------
 *
 * A leak check describes a moment, and the program goes on: a site may hold more blocks than the
 * check found, or fewer. Additional blocks were allocated after it and their state is unknown
 * ("unfreed"); missing blocks were freed since, and are subtracted from the verdicts that matter
 * least: reachable ones first, lost ones last.
 *
 *     sum of a site's shares = its live blocks
 *
 * When the recording file is read through a window (store.h), each share keeps only the
 * blocks in the window. */

/* Blocks of one site with one verdict. */
struct share {
    uint32_t site;  /* index in the sites of the store */
    uint32_t found; /* index in the leak check, STORE_NONE = unfreed */
    enum verdict verdict;
    uint64_t blocks, bytes;
    uint64_t retained_blocks, retained_bytes;
};

struct reconciliation {
    const struct store *store;
    uint32_t *first;     /* by site: index + 1 of the first result for it */
    uint32_t *next;      /* by result, + 1 */
    struct share *share; /* room for the shares of one site */
    size_t capacity;
};

/* The verdict of the model for one of the file format. */
enum verdict reconcile_verdict(enum leak_verdict verdict);

struct reconciliation reconcile_begin(const struct store *store);
void reconcile_end(struct reconciliation *reconciliation);

/* The shares of one site, none of them empty, valid until the next call. */
size_t reconcile_site(struct reconciliation *reconciliation, uint32_t site,
                      const struct share **shares);

/* ---- free_wrappers.c: functions that blocks of all kinds pass through ------------------------
 *
 * "Freed in my_free" tells nothing where everything is freed in my_free. xmalloc, g_free, a pool's
 * own malloc are recognised by what they do more than by their names: a wrapper is called by many
 * functions, for blocks of many sizes; a few are enough if its name ends in "free", or speaks of
 * allocating and all that it calls is malloc or a wrapper. A function that only wrappers call, for
 * as many sizes, is part of a wrapper.
 *
 * The place of a stack is its first frame of user code that is no wrapper. */

struct free_wrappers {
    struct signatures *signatures;
    struct wrapper_candidate *functions;
    size_t count, capacity;
    struct hashmap by_name;     /* frame.name_hash -> index + 1 */
    const struct frame **place; /* by node: the place of the stack, NULL = not computed yet */
};

/* Inspects all stacks of the recording file that allocated or freed. */
struct free_wrappers free_wrappers_find(struct signatures *signatures);
void free_wrappers_end(struct free_wrappers *wrappers);

bool free_wrappers_contain(const struct free_wrappers *wrappers, const struct frame *frame);

/* The place of a stack, NULL when it has no frame of user code. */
const struct frame *free_wrappers_place(struct free_wrappers *wrappers, uint32_t node);

/* ---- common_frame.c: where two stacks part ---------------------------------------------------
 *
 * A block was allocated below process(), and another one like it was freed below process(), too: on
 * the path where it was not, process() is the function to read. So the other stack (of a free, of a
 * close) is walked outwards to its first function that the own stack (of the allocation, of the
 * open) has, too. Only named functions of the user count; wrappers do not, and neither do functions
 * of one name in two files.
 *
 * Of several other stacks the one that agrees best is the one to show: functions that both stacks
 * have from the common one outwards count for them, functions that only one has count against
 * them, and of equal ones that with the innermost common function is better. How often a stack
 * occurred is for the caller to consider last. */

struct common_frame {
    size_t own, other; /* its index in each stack; the other one's line is the call that releases */
    size_t below; /* index in the other stack: the user's function that it calls there; == other: it
                     releases by itself, or through wrappers and libraries alone */
    size_t inner; /* the user's functions in the own stack that lie inside of it */
    int agreement;
};

/* A function that calls all of a program, such as a main loop, tells nothing: of 17 leaks that
 * projects have fixed, the common function was the one to fix where no or one function of the user
 * lay inside of it, and not with 4, 11 and 13. In node, python3, git, vim and redis-server three
 * quarters of the common functions have at most 6 inside; with more than 8 they are dispatchers. */
#define COMMON_NEAR 8     /* functions inside of one that is told … */
#define COMMON_CLOSE 3    /* … and of one that is most likely the function to fix */
#define COMMON_FRAMES 256 /* the user's frames compared of each stack, from the innermost on */

/* The own stack, to be compared with many others: its functions by name. */
struct common_frames {
    struct stack stack;               /* borrowed */
    unsigned count;                   /* of the user's frames */
    uint32_t at[COMMON_FRAMES];       /* their indices in the stack, innermost first */
    uint16_t next[COMMON_FRAMES];     /* the next one outwards of that name; COMMON_FRAMES: none */
    uint16_t slot[2 * COMMON_FRAMES]; /* hash table: the innermost one of a name + 1; 0: empty */
};

/* The frames of a stack in which it can agree with other stacks. wrappers: functions that only free
 * for their callers, NULL = none are known. */
struct common_frames common_frames_of(const struct stack *stack,
                                      const struct free_wrappers *wrappers);

/* Finds the innermost function that two stacks have in common. False: they have none. */
bool common_frame_find(const struct common_frames *own, const struct stack *other,
                       const struct free_wrappers *wrappers, struct common_frame *found);

/* Compares how well two stacks agree with a third. Below 0: a agrees better than b; 0: equally. */
int common_frame_compare(const struct common_frame *a, const struct common_frame *b);

/* ---- free_sites.c: where the other blocks of a record are freed ------------------------------
 *
 * A leak is often one exit path that forgets what another one does: of 12,041 blocks 95 % are freed
 * in node_free, which process() calls in tree.c:88, and these were not. The frees of a record's own
 * stacks are summed up by place and by the function that they have in common with the record
 * (common_frame.c); the place that agrees best comes first, whatever its share.
 *
 * Where its own stacks freed nothing, other stacks that allocate blocks of the same kind in the same
 * place are used, those first whose callers are the same furthest outwards. Where these freed
 * nothing either, blocks that the same function allocates in other lines are most often freed where
 * these should be, or at last what functions allocate that it calls: the members of an object whose
 * destructor forgot the object itself, if one function frees nearly all of them. Frees at the end of the program are marked as late: the blocks grew until then.
 *
 * Two kinds of frees are left out. realloc moves a block but keeps it: a node that allocates and
 * frees is a call of realloc. A line that frees what it allocated replaces or grows a block: there
 * the block lives on. */

#define FREE_LEVELS 13 /* of agreement between stacks that allocate */

/* Sites that have a key in common; made at the first lookup. */
struct site_groups {
    struct site_group *all;
    size_t count, capacity;
    struct hashmap of; /* key -> index + 1 */
    uint32_t *next;    /* by site; NULL = not made yet */
};

struct free_sites {
    struct arena *mem;
    struct signatures *signatures;
    const struct store *store;
    bool all;     /* every free was inspected */
    bool sampled; /* recorded with sample=: only frees of sampled blocks are known */
    struct free_wrappers wrappers;
    uint8_t *allocates; /* by node: a site is there */
    uint8_t *late;      /* by node: is it below exit? 0 = not computed yet */
    struct site_groups levels[FREE_LEVELS];
};

/* Begins the search for freed blocks, for the records of one recording file, whose signatures are
 * resolved. */
struct free_sites free_sites_begin(struct arena *mem, struct signatures *signatures);
void free_sites_end(struct free_sites *frees);

/* Fills in where the functions that opened the process's resources free their blocks. */
void free_sites_fill_resources(struct free_sites *frees, struct process *process);

/* Fills in record->freed and record->beside; needs the record's kind and frames. */
void free_sites_fill(struct free_sites *frees, struct site_list sites, struct record *record);

/* ---- growth_series.c: the stacks of one record over time -------------------------------------
 *
 * The series of all sites of a signature are summed up row by row; what they hold at the end is the
 * last point, and growth.h judges them. Before its first row a site held nothing if it did not
 * exist yet, else as much as in that row. */

struct growth_series {
    struct arena *mem;
    const struct store *store;
    uint64_t until_ns;
    uint64_t live_bytes; /* of the whole heap, at the end */
    uint32_t *series_of; /* by site: index + 1, 0 = none */
    struct growth_point *points;
};

/* Uses the memory of the store. until_ns: the end of the process, or now while it runs. */
struct growth_series growth_series_begin(struct arena *mem, const struct store *store,
                                         uint64_t until_ns);

/* Does the site have a series of at least GROWTH_BYTES_LEAST? */
bool growth_series_has_site(const struct growth_series *growth_series, uint32_t site);
/* The site that held most at one time. */
uint32_t growth_series_largest_site(const struct growth_series *growth_series,
                                    struct site_list sites);
/* The verdict and its reason in words. NULL: the sites have no series, or too short a one. */
const struct growth *growth_series_judge(struct growth_series *growth_series,
                                         struct site_list sites);

#endif
