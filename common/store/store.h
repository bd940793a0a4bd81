/* store.h - the recording of one process, as plain data that was checked.
 *
 * The reader (reader.h) makes it from a recording file. Every id has become an index that is in
 * range, every parent node has a smaller index than its child, every text is terminated, and
 * counts are consistent. Other code never uses the structs of the file itself. All memory
 * belongs to the caller's arena.
 */
#ifndef COMMON_STORE_STORE_H
#define COMMON_STORE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "leak_store.h"
#include "common/base/arena.h"
#include "common/base/foreign_file.h"
#include "common/base/interval_map.h"
#include "common/model/model.h"

/* A reason why a call stack ends, which the reader adds to those of the file (enum leak_root): the
 * node of the next caller is not in the file. */
#define STORE_ROOT_MISSING (LEAK_NODE_FIRST - 1)
#define STORE_NO_SITE UINT32_MAX
#define STORE_NONE UINT32_MAX /* an index of anything but a site that refers to nothing */

struct store_module {
    const char *path;
    const uint8_t *build_id;
    size_t build_id_length; /* 0 = the module has none */
    uint64_t start, end, bias;
    uint64_t loaded_ns, unloaded_ns;
    uint32_t loaded, unloaded;
};

struct store_thread {
    const char *name;
    uint32_t serial;
    int32_t tid;
    uint64_t allocations;
    uint64_t walks, frames_walked, frames_shared;
    bool ended;
};

/* Python code that occurs in call stacks. */
struct store_code {
    uint32_t id;
    const char *file, *name;
    uint32_t first_line, line_table; /* line_table: enum leak_line_table */
    const uint8_t *lines;
    size_t lines_length;
};

struct store_node {
    uint64_t pc;     /* return address; 0 = never published; below LEAK_KIND_PCS = no frame, to
                      * be skipped */
    uint32_t parent; /* index of the caller's node, which is smaller than this node's, or an
                      * enum leak_root */
    uint32_t number; /* leak_node.number of the file: tells which of several modules was at pc,
                      * or which Python code */
};

struct store_site {
    uint32_t id;
    uint32_t node; /* index of the innermost node of the call stack, or an enum leak_root */
    uint32_t kind; /* enum leak_kind */
    uint32_t tag;  /* index in store.tags, 0 = no tag */
    uint32_t first, last;
    uint32_t threads[LEAK_SITE_THREADS];
    bool more_threads;
    bool inherited; /* some counted blocks were inherited from the parent at fork */
    bool older;     /* the site counts blocks from before libleak was loaded, which the last leak
                     * check found */
    struct leak_counts counts; /* the site's counts in the file, plus those in the slots of
                                * threads */
    uint64_t live_bytes, live_blocks;
    struct leak_variance variance; /* variance of the estimated live blocks and bytes (with
                                      * sample=); all zero if nothing is live */
    /* temporary blocks; estimates in the same cases as store_freed.blocks */
    struct leak_temporary temporary;
    size_t freed, freed_count; /* range in store.freed: where the blocks of the site were
                                      * freed */
};

/* The blocks of one site that one call stack freed. */
struct store_freed {
    uint32_t site; /* index in store.sites */
    uint32_t node; /* index of the innermost node of the freeing stack, or an enum leak_root */
    uint64_t blocks, bytes; /* estimates, except with free_stacks=all and without sample= */
};

/* One of the last blocks that a thread freed. */
struct store_recent {
    uint64_t address, pc;
    uint32_t node;   /* index of the innermost node of the freeing stack, or an enum leak_root;
                      * LEAK_ROOT_NONE = only the return address pc is known */
    uint32_t site;   /* index of the allocation site, or STORE_NO_SITE */
    uint32_t thread; /* serial number of the thread */
    uint32_t tick;
    uint32_t form;      /* enum leak_form, LEAK_FORM_NONE = unknown */
    uint64_t size_most; /* size of the block, or up to LEAK_RECENT_UNIT - 1 more; 0 = unknown */
};

/* A bad free (struct leak_event in leak_store.h); type, form and place are valid. */
struct store_event {
    struct leak_event event; /* only its numbers are valid; the fields below replace its ids */
    uint32_t site;           /* index of the block's allocation site, or STORE_NO_SITE */
    /* Indices of the innermost nodes of the stacks of the bad free and of the block's first free,
     * or values of enum leak_root; LEAK_ROOT_NONE = only the return address is known. */
    uint32_t node, freed_node;
    const char *block_pool, *call_pool; /* names of pools, with any bytes; NULL = no pool */
};

/* Where, when and by which thread a resource was opened or closed. */
struct store_resource_use {
    /* Index of the innermost node of the call stack, or an enum leak_root; LEAK_ROOT_NONE = not
     * recorded. */
    uint32_t node;
    uint32_t thread, tick;
};

/* An open resource other than memory, or the bad closes of one call stack. */
struct store_resource {
    enum leak_resource_type type;
    bool bad_close;
    bool released; /* the resources are not open: `count` of them were opened by the stack
                    * `opened` and released by the stack `closed` */
    enum leak_sort sort;
    unsigned flags; /* enum leak_resource_flag */
    enum leak_name_form name_form;
    const char *name; /* name of the resource; may contain any bytes */
    size_t name_length;
    uint32_t count;
    uint64_t id, bytes;
    struct store_resource_use opened, closed, again;
    int32_t fd;
};

/* ---- The results of a leak check: indices are in range, flags and enums are valid ------------ */

/* The blocks of one site with one verdict. An invalid record has LEAK_VERDICT_NONE and no
 * blocks. */
struct store_found {
    uint32_t site; /* index in store.sites */
    enum leak_verdict verdict;
    unsigned flags; /* enum leak_found_flag */
    uint32_t owner; /* index of the LOST result that owns these blocks, or STORE_NONE */
    uint32_t root;  /* index of the root that reaches these blocks, or STORE_NONE */
    uint32_t first, last;
    uint32_t path, path_count;     /* range in steps[]: the path from the root */
    uint32_t sample, sample_count; /* range in samples[] of sample blocks */
    uint64_t blocks, bytes, retained_blocks, retained_bytes;
    uint64_t window_blocks, window_bytes; /* how many of the blocks, and of their bytes, the time
                                           * window includes */
};

struct store_step {
    uint64_t offset, size;
    uint32_t site; /* index of the site of the block that the step leads to, or STORE_NO_SITE */
    uint32_t into;
};

struct store_seen_thread {
    const char *name;
    uint32_t serial; /* 0 = the thread never allocated */
    int32_t tid;
    bool parked, taker;
    uint32_t pc, pc_count; /* range in pcs[]: the stack of the thread */
};

struct store_orphan {
    uint32_t site, holder; /* indices of the sites of the lost block and of the freed holder;
                            * holder may be STORE_NO_SITE */
    uint32_t node, blocks;
    uint64_t address;
};

struct store_part {
    uint32_t root, site; /* indices of a root, and of a site whose blocks the root keeps alive */
    uint64_t blocks, bytes;
};

struct store_interior {
    uint32_t found;  /* index in found[] of the result that the blocks belong to */
    uint32_t holder; /* index of the site whose blocks contain the pointers, or STORE_NO_SITE:
                      * roots contain them */
    uint64_t offset, blocks;
};

struct store_loss {
    uint32_t site; /* index in store.sites */
    struct leak_loss_span first, last;
};

struct store_leak_check {
    struct leak_snapshot head; /* only its numbers are valid; the arrays below replace its tables */
    struct store_found *found;
    struct leak_held *roots;  /* the class of each is a valid enum leak_root_class */
    struct store_part *parts; /* how many blocks of a site a root keeps alive, for each such pair */
    struct store_step *steps;
    struct leak_sample *samples;
    uint8_t *contents; /* the first bytes of sample blocks; each sample has a range of them */
    struct store_seen_thread *threads;
    uint64_t *pcs;
    struct store_module *modules;
    struct store_orphan *orphans;
    struct store_interior *interiors;
    struct store_loss *losses;
    struct leak_age *ages;         /* ages of the blocks of results; each refers to a result in
                                    * found[] by its index */
    struct leak_pointer *pointers; /* the pointers to the block that the user asked about */
    size_t age_count, pointer_count;
    size_t found_count, root_count, step_count, sample_count, thread_count, pc_count;
    size_t module_count, content_count, orphan_count, part_count, interior_count, loss_count;
    struct interval_map module_spans; /* address ranges of modules; values are indices in
                                       * modules[] */
};

/* The signal that killed the process (struct leak_crash in leak_store.h): counts are in range,
 * texts terminated. */
struct store_crash {
    struct leak_crash head;
    /* Index of the site of the block at the fault address and at each register, or
     * STORE_NO_SITE: there is no block. */
    uint32_t near_site[1 + LEAK_CRASH_REGISTERS];
    struct store_module *modules;
    size_t module_count;
    struct interval_map module_spans; /* address ranges of modules; values are indices in
                                       * modules[] */
};

/* Suppressions of known leaks, from the program itself or from a file that it names. */
struct store_suppressions {
    const char *where, *text; /* name of the source, and the text, without NULs */
    size_t length;
};
#define STORE_SUPPRESSIONS_MAX 4 /* most texts with suppressions that are read; more are left out */

/* How a word that pointed to a followed block lost the pointer (struct leak_drop in
 * leak_store.h). */
struct store_drop {
    uint32_t event;         /* number of the later call, counted from the block's allocation; 0 =
                             * nothing was recorded */
    uint32_t before, after; /* indices of the innermost nodes of two calls, or roots: the word
                             * had the pointer in the first call and not in the second */
    uint64_t *frames;       /* stack of the instruction that overwrote the pointer: return
                             * addresses, innermost first */
    size_t frame_count;
    struct leak_holder holder; /* the word that had the pointer; its class is valid or 0 */
    uint32_t holder_site;      /* index of the site of the block that contains the word, or
                                * STORE_NO_SITE */
    uint64_t jump_from, jump_to;
    uint32_t since;
    bool late;
};

struct store_followed {
    uint32_t thread, count; /* the block is allocation number `count`, from 1, of the thread
                             * with this serial number */
    bool by_stack;          /* the block was chosen by its call stack */
    enum leak_followed_state state;
    uint32_t site; /* index of the block's allocation site */
    uint64_t size;
    struct store_drop stored, last;
    uint64_t *used; /* stack of the last instruction that used the block: return addresses,
                     * innermost first */
    size_t used_count, used_bytes;
    uint32_t used_event;
};

/* A place in the code that changed the reference count of the followed block. */
struct store_counting {
    int32_t by; /* 1 or -1: what the code added to the count; 0: it set the first value */
    uint32_t times;
    uint64_t *frames; /* stack of the place: return addresses, innermost first */
    size_t frame_count;
};

/* A word of the followed block that changed as a reference count does. */
struct store_counter {
    bool found;
    uint64_t offset; /* offset of the word in the block */
    int32_t first, value;
    struct store_counting *countings;
    size_t counting_count;
};

/* A function that had the followed block, or was passed it (struct leak_way). */
struct store_way {
    uint32_t how;    /* constants LEAK_WAY_ of leak_store.h; 0: it has not ended */
    uint32_t number; /* number of the call that passed the block; 0: the function is one of those
                      * that allocated it */
    bool variable;   /* what was passed is the address of the variable that points to the block */
    uint64_t left_at;
    uint64_t *frames; /* the function and its callers: return addresses, innermost first */
    size_t frame_count;
    struct leak_way_jump jumps[LEAK_WAY_JUMPS]; /* its last jumps, latest last */
    size_t jump_count;
};

/* The way of the followed block through the functions of the program. */
struct store_trail {
    bool found;
    struct store_way *ended; /* functions that allocated the block, innermost first */
    size_t ended_count;
    struct store_way passed[LEAK_WAYS_PASSED]; /* the latest calls that passed it, latest first */
    size_t passed_count;                       /* 0 if the recording ends before the loss */
};

/* The size of the heap at one time. */
struct store_moment {
    uint32_t tick;
    uint64_t bytes, blocks;
};

/* The size of a site over time: its entry in each row (a time at which sizes were recorded) is
 * values[row * series_count + its index in store_history.series]. */
struct store_series {
    uint32_t site;    /* index in store.sites */
    size_t first_row; /* index of the first row that has values of this site */
    uint64_t peak;
};

struct store_peak_site {
    uint32_t site; /* index in store.sites */
    uint64_t bytes, blocks;
};

/* A mark that the user set, or a leak check: blocks are older or newer than it. */
struct store_milestone {
    uint32_t number, tick;
    uint64_t when_ns;
    bool is_look, is_known;
    const char *name;
};

struct store_history {
    uint64_t limit;
    enum leak_limit limit_of; /* what `limit` limits; LEAK_LIMIT_NONE: there is no limit, or it
                               * is unknown */
    struct store_moment *moments;
    size_t moment_count; /* moments[] is sorted by tick, ascending */
    /* the ticks of the rows, ascending; a row has the sizes of some sites at one time */
    uint32_t *rows;
    size_t row_count;
    struct store_series *series;
    size_t series_count;
    struct leak_row_entry *values;
    struct store_moment peak;           /* bytes 0: no peak was recorded */
    struct store_peak_site *peak_sites; /* sites with most live bytes at the peak, the largest
                                         * first */
    size_t peak_site_count;
};

struct store {
    struct arena *mem;
    const char *path;
    struct file_owner owner;   /* owner of the file: the user whose program it was */
    struct leak_header header; /* only its numbers are valid; the host name is `host` */
    const char *host, *exe, *cwd, *options;
    struct leak_own own; /* memory of libleak itself; used 0: unknown */
    const char **argv;
    size_t argc;
    struct store_module *modules;
    size_t module_count;
    struct interval_map module_spans; /* address ranges of modules; values are indices in
                                       * modules[] */
    struct store_thread *threads;
    size_t thread_count; /* threads[] is sorted by serial number, ascending */
    struct store_code *codes;
    size_t code_count; /* codes[] is sorted by id, ascending */
    struct store_node *nodes;
    size_t node_count; /* nodes[] has nodes at the indices from LEAK_NODE_FIRST to node_count - 1 */
    struct store_site *sites;
    size_t site_count; /* sites[] is sorted by id, ascending */
    struct store_freed *freed;
    size_t freed_count; /* freed[] is sorted by site, and for one site by blocks, the most first */
    struct store_recent *recent;
    size_t recent_count;    /* recent[] is sorted by time, the newest first; frees of one tick
                             * are ordered by thread */
    uint64_t free_captures; /* number of captured stacks of frees */
    struct store_event *events;
    size_t event_count;
    uint64_t events_left_out; /* number of bad frees that the file had no room for */
    const char **tags; /* names of tags, indexed by tag number, LEAK_TAGS + 1 entries; NULL = no
                        * site has a tag */
    uint64_t tags_left_out;           /* how often the program pushed a tag whose name the file
                                       * had no room for */
    struct store_resource *resources; /* unordered; malloc'd */
    size_t resource_count;
    uint64_t resources_opened[LEAK_RESOURCE_MAX], resources_missed;
    struct store_leak_check *look; /* the last leak check that succeeded; if none did, the last
                                    * that failed, with head.rung LEAK_RUNG_NONE and the reason;
                                    * NULL = none was made */
    struct leak_snapshot *failed;  /* a leak check after `look` that failed, or NULL */
    struct store_milestone *milestones;
    size_t milestone_count; /* milestones[] is sorted by tick, ascending */
    enum {
        WINDOW_NONE,  /* the user gave no window: all blocks are reported */
        WINDOW_SINCE, /* only blocks newer than a milestone, also those allocated after the leak
                       * check */
        WINDOW_UNTIL, /* only blocks older than a milestone before the leak check */
    } window;
    struct store_crash *crash; /* NULL = the process did not crash */
    /* The forks that led to this process, as follow_blocks= names it: "T1.3/T1.1/"; empty: it is no
     * fork child; NULL: unknown. */
    const char *fork_chain;
    struct store_followed *followed; /* the followed blocks that were allocated */
    size_t followed_count;
    struct store_counter counter;
    struct store_trail trail;
    struct store_history history;
    struct store_suppressions suppressions[STORE_SUPPRESSIONS_MAX];
    size_t suppressions_count;
    const char *broken; /* what is wrong with the file, so that parts are missing: "cut off",
                         * "damaged"; NULL = nothing */
    const char **notes; /* sentences for the report about unusual properties of the file */
    size_t note_count, note_capacity;
};

/* Adds a sentence to the notes, unless it is there already. */
void store_add_note(struct store *store, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Returns the module that contained pc when a node with this `number` (store_node.number) was made,
 * or NULL. */
const struct store_module *store_find_module(const struct store *store, uint64_t pc,
                                             uint32_t number);

/* Returns the module that was loaded last at an address range with pc, or NULL. */
const struct store_module *store_find_last_module(const struct store *store, uint64_t pc);

bool store_node_is_python(const struct store *store, uint32_t node);
/* Returns the code of a node that is a Python frame; NULL: the code was not recorded. */
const struct store_code *store_find_code(const struct store *store, uint32_t node);

/* Says whether a node stands for blocks from before libleak was loaded. */
bool store_node_is_older(const struct store *store, uint32_t node);

const struct store_thread *store_find_thread(const struct store *store, uint32_t serial);

/* Returns the index of the site with this id, or STORE_NO_SITE. */
uint32_t store_find_site(const struct store *store, uint32_t id);

/* Copies the value of an option into text, cut to fit. False: the option has its default. */
bool store_get_option(const struct store *store, const char *name, char *text, size_t size);

/* Returns the time at which a tick began, as CLOCK_REALTIME nanoseconds. */
uint64_t store_time_of_tick(const struct store *store, uint32_t tick);

/* Says whether the invariants of a struct store hold, for tests. False: *broken names a broken
 * one. */
bool store_check(const struct store *store, const char **broken);

/* Frees the memory of a struct store that is not in its arena. */
void store_end(struct store *store);

/* Returns how the process ended. If the file does not say, /proc shows whether the process runs. */
enum end_how store_end_how(const struct store *store);

/* ---- Windows of time (time_window.c) ------------------------------------------------------------
 *
 * A window restricts a report to blocks that were allocated since a milestone, or between two. The
 * last leak check counted its results by milestones; blocks outside of the window are in no
 * record. The user gives a milestone by the name of its mark (of equal names the newest is taken),
 * or as "#3" by its number. If the user gives none, the window begins at the newest milestone at
 * which the program declared all blocks as known (libleak_mark_reported), if there is one. */
struct time_window {
    const char *from, *until; /* names of milestones; NULL = from the start, to the end */
    bool known;               /* without `from` and `until`: also report what the program
                               * declared as known */
};

/* Restricts a recording to a window. False: there is no such milestone, or no leak check after
 * it; *text explains that, and what the user can do. */
bool time_window_apply(struct store *store, const struct time_window *since, char *text,
                       size_t size);

#endif
