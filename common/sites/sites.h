/* sites.h - facts about a record from its allocation sites in the recording file: tags, verdicts
 * of the last leak check, where its other blocks are freed, and growth.
 */
#ifndef COMMON_SITES_SITES_H
#define COMMON_SITES_SITES_H

#include "common/base/arena.h"
#include "common/base/hashmap.h"
#include "common/model/model.h"
#include "common/sites/signature.h"
#include "common/store/store.h"

/* A linked list of site indices, each + 1: `first`, then next[index] of each, 0 at the end. */
struct site_list {
    uint32_t first;
    const uint32_t *next;
};

/* ---- tags.c: blocks summed up by the tags that the program gave them ----------------------------
 *
 * A record has the sums of its tagged blocks, the largest first. A report that shows several
 * records as one adds up their sums. */

struct tag_sums {
    struct tag_sum *sum;
    size_t count, capacity;
};

/* Add to sums, which begin as a zeroed struct; tag_sums_end() leaves them empty again. The names
 * must outlive the sums. */
void tag_sums_add(struct tag_sums *sums, const char *name, uint64_t bytes, uint64_t blocks);
void tag_sums_add_record(struct tag_sums *sums, const struct record *record);
void tag_sums_sort(struct tag_sums *sums);
/* Sorts the sums and copies them to record->tags. */
void tag_sums_fill(struct tag_sums *sums, struct arena *mem, struct record *record);
void tag_sums_end(struct tag_sums *sums);

/* ---- reconcile.c: verdicts of the last leak check for the blocks that live now ------------------
 *
 * The program goes on after a leak check, so a site may have more live blocks than the check
 * found, or fewer. Additional blocks were allocated after the check, and their verdict is
 * "unfreed". Missing blocks were freed since, and are subtracted from the verdicts that matter
 * least: from reachable ones first, from lost ones last.
 *
 *     sum of a site's shares = its live blocks
 *
 * When the report is restricted to a window of time (store.h), each share keeps only the blocks
 * allocated in the window. */

/* Blocks of one site with one verdict. */
struct share {
    uint32_t site;  /* index of the site in the recording */
    uint32_t found; /* index of the result in the leak check, STORE_NONE = unfreed */
    enum verdict verdict;
    uint64_t blocks, bytes;
    uint64_t retained_blocks, retained_bytes;
};

struct reconciliation {
    const struct store *store;
    uint32_t *first;     /* for each site: 1 + index of its first result in the leak check */
    uint32_t *next;      /* for each result of the leak check: 1 + index of the next result of its
                          * site; 0 = none */
    struct share *share; /* buffer for the shares of one site */
    size_t capacity;
};

/* Converts a verdict of the file format to one of the model. */
enum verdict reconcile_verdict(enum leak_verdict verdict);

struct reconciliation reconcile_begin(const struct store *store);
void reconcile_end(struct reconciliation *reconciliation);

/* Computes the shares of one site, without empty ones. Returns their number; *shares is valid
 * until the next call. */
size_t reconcile_site(struct reconciliation *reconciliation, uint32_t site,
                      const struct share **shares);

/* ---- free_wrappers.c: functions that blocks of all kinds pass through ---------------------------
 *
 * "Freed in my_free" says nothing in a program that frees everything in my_free. Such wrappers,
 * like xmalloc, g_free, or the malloc of a pool, are recognized by what they do more than by
 * their names: many functions call a wrapper, for blocks of many sizes. A few are enough if its
 * name ends in "free", or if its name contains a word for allocating and it calls only malloc or
 * wrappers. A function that only wrappers call, for as many sizes, is part of a wrapper.
 *
 * The place of a stack is its first frame of user code that is no wrapper. */

struct free_wrappers {
    struct signatures *signatures;
    struct wrapper_candidate *functions;
    size_t count, capacity;
    struct hashmap by_name;     /* frame.name_hash -> 1 + index in functions[] */
    const struct frame **place; /* for each node: the place of its stack (first frame of user code
                                 * that is no wrapper), NULL = not computed yet */
};

/* Finds the wrappers among all functions in stacks that allocated or freed. */
struct free_wrappers free_wrappers_find(struct signatures *signatures);
void free_wrappers_end(struct free_wrappers *wrappers);

bool free_wrappers_contain(const struct free_wrappers *wrappers, const struct frame *frame);

/* The place of a stack: its first frame of user code that is no wrapper; NULL = it has none. */
const struct frame *free_wrappers_place(struct free_wrappers *wrappers, uint32_t node);

/* ---- common_frame.c: the innermost function that two stacks have in common ----------------------
 *
 * If a block was allocated below process(), and another block like it was freed below process(),
 * then process() is the function to read: some path through it frees the block, another one does
 * not. So the other stack (of a free, of a close) is searched outwards for its first function
 * that the own stack (of the allocation, of the open) also has. Only named functions of the user
 * count, without wrappers; functions with one name in two files are different.
 *
 * Of several other stacks, the report shows the one that agrees best with the own stack.
 * Functions in both stacks, from the common function on outwards, count for a stack, and
 * functions in only one of them count against it. If two agree equally, the one with the more
 * inner common function is better. The caller compares last how often each stack occurred. */

struct common_frame {
    size_t own, other; /* index of the function in each stack; its line in the other stack is the
                        * call that releases */
    /* Index in the other stack of the user's function that the common function calls; == other:
     * the common function releases itself, or only through wrappers and libraries. */
    size_t below;
    size_t inner; /* number of the user's functions in the own stack between the allocation and
                   * the common function */
    int agreement;
};

/* A function that calls everything, such as a main loop, is of no use. In 17 leaks that projects
 * have fixed, the common function was the one to fix when none or one function of the user lay
 * inside of it, and was not with 4, 11 and 13. In node, python3, git, vim and redis-server three
 * quarters of the common functions have at most 6 inside; those with more than 8 are
 * dispatchers. */
#define COMMON_NEAR 8 /* a report names no common function with more functions inside of it */
/* Only a common function with at most so many functions inside of it may be marked as the one to
 * fix. */
#define COMMON_CLOSE 3
/* Most frames of the user that are compared in a stack, innermost first. */
#define COMMON_FRAMES 256

/* The user's frames of the own stack (the one of the allocation), found by name, to compare that
 * stack with many others. */
struct common_frames {
    struct stack stack;               /* the own stack; the caller keeps its frames */
    unsigned count;                   /* number of the user's frames in the stack */
    uint32_t at[COMMON_FRAMES];       /* indices in the stack of the user's frames, innermost
                                       * first */
    uint16_t next[COMMON_FRAMES];     /* position of the next frame outwards with the same name;
                                       * COMMON_FRAMES: none */
    uint16_t slot[2 * COMMON_FRAMES]; /* hash table: 1 + position of the innermost frame with a
                                       * name; 0: empty */
};

/* Selects the frames of a stack that can be compared with other stacks. wrappers: functions to
 * leave out, NULL = none. */
struct common_frames common_frames_of(const struct stack *stack,
                                      const struct free_wrappers *wrappers);

/* Finds the innermost function that two stacks have in common. False: they have none. */
bool common_frame_find(const struct common_frames *own, const struct stack *other,
                       const struct free_wrappers *wrappers, struct common_frame *found);

/* Compares how well two stacks agree with a third. Below 0: a agrees better than b; 0: equally. */
int common_frame_compare(const struct common_frame *a, const struct common_frame *b);

/* ---- free_sites.c: where the other blocks of a record are freed ---------------------------------
 *
 * A leak is often one exit path that forgets what another one does: of 12,041 blocks 95 % are
 * freed in node_free, which process() calls in tree.c:88, and the leaked blocks are the rest. So
 * the frees of a record's own stacks are summed up by place and by the function that they have
 * in common with the record (common_frame.c). The place that agrees best comes first, however
 * few frees it has.
 *
 * If the record's own stacks freed nothing, stacks that allocate blocks of the same kind in the
 * same place are used, those that share the most callers first. If these freed nothing either,
 * blocks that the same function allocates in other lines are used: they are most often freed
 * where the leaked blocks should be. At last come blocks of functions that this function calls:
 * the members of an object whose destructor forgot the object itself, if one function frees
 * nearly all of them. Frees at the end of the program are marked as late: until then the blocks
 * accumulated.
 *
 * Two kinds of frees are left out. realloc moves a block but keeps it: a node that both
 * allocates and frees is a call of realloc. And a line that frees what it allocated replaces or
 * grows a block, so that the block lives on. */

#define FREE_LEVELS 13 /* number of levels in the search for stacks similar to a record's */

/* Sites grouped by level_key() of one level of the search. Made at the first lookup. */
struct site_groups {
    struct site_group *all;
    size_t count, capacity;
    struct hashmap of; /* level_key() -> 1 + index in all[] */
    uint32_t *next;    /* for each site: 1 + index of the next site of its group; NULL = not made
                        * yet */
};

struct free_sites {
    struct arena *mem;
    struct signatures *signatures;
    const struct store *store;
    bool all;     /* every free was inspected */
    bool sampled; /* recorded with sample=: only frees of sampled blocks are known */
    struct free_wrappers wrappers;
    uint8_t *allocates; /* for each node: whether it is the node of an allocation site */
    uint8_t *late;      /* for each node: whether exit() called it, directly or not; 0 = not
                         * computed yet */
    struct site_groups levels[FREE_LEVELS];
};

/* Prepares to look up frees for the records of one recording file, whose signatures must be
 * resolved. */
struct free_sites free_sites_begin(struct arena *mem, struct signatures *signatures);
void free_sites_end(struct free_sites *frees);

/* Stores in each open resource where blocks of the function that opened it are freed
 * (record.beside). */
void free_sites_fill_resources(struct free_sites *frees, struct process *process);

/* Sets record->freed and record->beside; needs the record's kind and frames. */
void free_sites_fill(struct free_sites *frees, struct site_list sites, struct record *record);

/* ---- growth_series.c: the live bytes of one record over time ------------------------------------
 *
 * The series of all sites of a signature are added up row by row. The live bytes at the end are
 * the last point. growth.h judges the sum. Before the first row of its series, a site had
 * nothing if it did not exist yet, else as much as in that row. */

struct growth_series {
    struct arena *mem;
    const struct store *store;
    uint64_t until_ns;
    uint64_t live_bytes; /* live bytes of the whole heap at the end */
    uint32_t *series_of; /* for each site: 1 + index of its series, 0 = none */
    struct growth_point *points;
};

/* Begins to judge the sites of a recording, in whose memory it allocates. until_ns: the end of
 * the process, or now while it runs. */
struct growth_series growth_series_begin(struct arena *mem, const struct store *store,
                                         uint64_t until_ns);

/* Says whether the site has a series that once reached GROWTH_BYTES_LEAST. */
bool growth_series_has_site(const struct growth_series *growth_series, uint32_t site);
/* Returns the site of the list whose live bytes had the highest peak. */
uint32_t growth_series_largest_site(const struct growth_series *growth_series,
                                    struct site_list sites);
/* Judges the growth of sites, with the reason in words. NULL: they have no series, or one that
 * is too short or small. */
const struct growth *growth_series_judge(struct growth_series *growth_series,
                                         struct site_list sites);

#endif
