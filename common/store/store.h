/* store.h - the recording of one process, as plain checked data.
 *
 * The reader makes it of a recording file: every id has become an index that is in range, every
 * parent is below its child, every text is terminated, every count is consistent. Code above the
 * reader never uses the structs of the file itself. All memory belongs to the caller's arena.
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

/* The file has the roots 1..5; the reader adds this one: the next node of a trace is not in the
 * file. */
#define STORE_ROOT_MISSING (LEAK_NODE_FIRST - 1)
#define STORE_NO_SITE UINT32_MAX
#define STORE_NONE UINT32_MAX /* no index of any other kind */

struct store_module {
    const char *path;
    const uint8_t *build_id;
    size_t build_id_length; /* 0 = none */
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

/* Python code that call stacks have. */
struct store_code {
    uint32_t id;
    const char *file, *name;
    uint32_t first_line, line_table; /* enum leak_line_table */
    const uint8_t *lines;
    size_t lines_length;
};

struct store_node {
    uint64_t pc;     /* 0 = never published; below LEAK_KIND_PCS = a leaf, to be skipped */
    uint32_t parent; /* index of a node below this one, or a root */
    uint32_t number; /* as in struct leak_node */
};

struct store_site {
    uint32_t id;
    uint32_t node; /* index, or a root */
    uint32_t kind; /* enum leak_kind */
    uint32_t tag;  /* index in the store's tags, 0 = none */
    uint32_t first, last;
    uint32_t threads[LEAK_SITE_THREADS];
    bool more_threads;
    bool inherited; /* counts blocks inherited from the parent at fork */
    bool
        older; /* counts blocks from before libleak was loaded, as the last leak check found them */
    struct leak_counts counts; /* folded plus slots */
    uint64_t live_bytes, live_blocks;
    struct leak_variance variance;   /* of these; all zero when nothing is live */
    struct leak_temporary temporary; /* of the frees; an estimate like "freed" */
    size_t freed, freed_count;       /* where its blocks were freed: a range of the store's */
};

/* The blocks of one site that one stack freed. */
struct store_freed {
    uint32_t site;          /* index */
    uint32_t node;          /* index, or a root */
    uint64_t blocks, bytes; /* estimates, unless free_stacks=all without sample= */
};

/* One of a thread's last calls of free. */
struct store_recent {
    uint64_t address, pc;
    uint32_t node;   /* index, or a root; LEAK_ROOT_NONE = only pc, the return address, is known */
    uint32_t site;   /* index, or STORE_NO_SITE */
    uint32_t thread; /* serial */
    uint32_t tick;
    uint32_t form; /* enum leak_form, NONE = not known */
    uint64_t
        size_most; /* of the block, which was up to LEAK_RECENT_UNIT - 1 smaller; 0 = unknown */
};

/* A bad free, see leak_store.h; type, form and place are valid. */
struct store_event {
    struct leak_event event;   /* only its numbers; instead of its ids: */
    uint32_t site;             /* index, or STORE_NO_SITE */
    uint32_t node, freed_node; /* index, or a root; LEAK_ROOT_NONE = only the pc is known */
    const char *block_pool, *call_pool; /* names; may contain any bytes; NULL = none */
};

/* Where, when and by which thread a resource was opened or closed. */
struct store_resource_use {
    uint32_t node; /* index, or a root; LEAK_ROOT_NONE = not observed */
    uint32_t thread, tick;
};

/* An open resource besides memory; or the bad closes of one stack. */
struct store_resource {
    enum leak_resource_type type;
    bool bad_close;
    bool released; /* not open: others that stack "opened" opened and stack "closed" released */
    enum leak_sort sort;
    unsigned flags; /* enum leak_resource_flag */
    enum leak_name_form name_form;
    const char *name; /* may contain any bytes */
    size_t name_length;
    uint32_t count;
    uint64_t id, bytes;
    struct store_resource_use opened, closed, again;
    int32_t fd;
};

/* ---- What a leak check found, see leak_store.h: indices are in range, flags and words valid */

/* The blocks of one site with one verdict. An invalid record has LEAK_VERDICT_NONE and no blocks.
 */
struct store_found {
    uint32_t site; /* index */
    enum leak_verdict verdict;
    unsigned flags; /* enum leak_found_flag */
    uint32_t owner; /* index of another one, which is LOST, or STORE_NONE */
    uint32_t root;  /* index of a root, or STORE_NONE */
    uint32_t first, last;
    uint32_t path, path_count;     /* a range of the steps */
    uint32_t sample, sample_count; /* and of the samples */
    uint64_t blocks, bytes, retained_blocks, retained_bytes;
    uint64_t window_blocks, window_bytes; /* of these, those in the window */
};

struct store_step {
    uint64_t offset, size;
    uint32_t site; /* index, or STORE_NO_SITE */
    uint32_t into;
};

struct store_seen_thread {
    const char *name;
    uint32_t serial; /* 0 = it never allocated */
    int32_t tid;
    bool parked, taker;
    uint32_t pc, pc_count; /* a range of the pcs: its stack */
};

struct store_orphan {
    uint32_t site, holder; /* indices; holder may be STORE_NO_SITE */
    uint32_t node, blocks;
    uint64_t address;
};

struct store_part {
    uint32_t root, site; /* indices */
    uint64_t blocks, bytes;
};

struct store_interior {
    uint32_t found;  /* index */
    uint32_t holder; /* index of a site, or STORE_NO_SITE: roots */
    uint64_t offset, blocks;
};

struct store_loss {
    uint32_t site; /* index */
    struct leak_loss_span first, last;
};

struct store_leak_check {
    struct leak_snapshot head; /* only its numbers */
    struct store_found *found;
    struct leak_held *roots;  /* of a known class */
    struct store_part *parts; /* what they keep alive, by site */
    struct store_step *steps;
    struct leak_sample *samples;
    uint8_t *contents; /* samples refer to ranges of it */
    struct store_seen_thread *threads;
    uint64_t *pcs;
    struct store_module *modules;
    struct store_orphan *orphans;
    struct store_interior *interiors;
    struct store_loss *losses;
    struct leak_age *ages;         /* each of a record of found */
    struct leak_pointer *pointers; /* to the block that the user asked about */
    size_t age_count, pointer_count;
    size_t found_count, root_count, step_count, sample_count, thread_count, pc_count;
    size_t module_count, content_count, orphan_count, part_count, interior_count, loss_count;
    struct interval_map module_spans; /* values are indices of modules */
};

/* The signal that killed the process, see leak_store.h: counts are in range, texts terminated. */
struct store_crash {
    struct leak_crash head;
    uint32_t near_site[1 + LEAK_CRASH_REGISTERS]; /* index, or STORE_NO_SITE: no block is there */
    struct store_module *modules;
    size_t module_count;
    struct interval_map module_spans; /* values are indices of modules */
};

/* Suppressions of known leaks: from the program itself, or a file that it names. */
struct store_suppressions {
    const char *where, *text; /* without NULs */
    size_t length;
};
#define STORE_SUPPRESSIONS_MAX 4 /* texts; further ones are left out */

/* A word that held a followed block, and where it lost it; see leak_store.h. */
struct store_drop {
    uint32_t event;         /* 0 = there is none */
    uint32_t before, after; /* indices of nodes, or roots */
    uint64_t *frames;       /* return addresses, innermost first */
    size_t frame_count;
    struct leak_holder holder; /* of a known class, or 0 */
    uint32_t holder_site;      /* index, or STORE_NO_SITE */
    uint64_t jump_from, jump_to;
    uint32_t since;
    bool late;
};

struct store_followed {
    uint32_t thread, count; /* the serial */
    enum leak_followed_state state;
    uint32_t site; /* index */
    uint64_t size;
    struct store_drop stored, last;
    uint64_t *used; /* return addresses of its last use, innermost first */
    size_t used_count, used_bytes;
    uint32_t used_event;
};

/* A place that changed a counter in the block that is followed. */
struct store_counting {
    int32_t by; /* 1 or -1; 0: gave it its first value */
    uint32_t times;
    uint64_t *frames; /* return addresses, innermost first */
    size_t frame_count;
};

/* What looks like the reference count of that block. */
struct store_counter {
    bool found;
    uint64_t offset; /* in the block */
    int32_t first, value;
    struct store_counting *countings;
    size_t counting_count;
};

/* The heap at one time. */
struct store_moment {
    uint32_t tick;
    uint64_t bytes, blocks;
};

/* A site over time: its entry in each row is values[row * series_count + its own index]. */
struct store_series {
    uint32_t site;    /* index */
    size_t first_row; /* earlier rows are of another site */
    uint64_t peak;
};

struct store_peak_site {
    uint32_t site; /* index */
    uint64_t bytes, blocks;
};

/* A time that blocks can be older or newer than: a mark or a leak check. */
struct store_milestone {
    uint32_t number, tick;
    uint64_t when_ns;
    bool is_look, is_known;
    const char *name;
};

struct store_history {
    uint64_t limit;
    enum leak_limit limit_of; /* NONE: no limit, or unknown */
    struct store_moment *moments;
    size_t moment_count; /* ascending by tick, like the rows */
    uint32_t *rows;      /* their ticks */
    size_t row_count;
    struct store_series *series;
    size_t series_count;
    struct leak_row_entry *values;
    struct store_moment peak; /* bytes 0: not recorded */
    struct store_peak_site
        *peak_sites; /* those with most live bytes at that time, the largest first */
    size_t peak_site_count;
};

struct store {
    struct arena *mem;
    const char *path;
    struct file_owner owner;   /* of the file: whose program it was */
    struct leak_header header; /* only its numbers; use host below */
    const char *host, *exe, *cwd, *options;
    struct leak_own own; /* used 0: unknown */
    const char **argv;
    size_t argc;
    struct store_module *modules;
    size_t module_count;
    struct interval_map module_spans; /* values are indices of modules */
    struct store_thread *threads;
    size_t thread_count; /* ascending by serial */
    struct store_code *codes;
    size_t code_count; /* ascending by id */
    struct store_node *nodes;
    size_t node_count; /* indices LEAK_NODE_FIRST .. node_count - 1 are nodes */
    struct store_site *sites;
    size_t site_count; /* ascending by id */
    struct store_freed *freed;
    size_t freed_count; /* ascending by site, then descending by blocks */
    struct store_recent *recent;
    size_t recent_count;    /* newest first; within one tick thread by thread */
    uint64_t free_captures; /* stacks of frees that were captured */
    struct store_event *events;
    size_t event_count;
    uint64_t events_left_out; /* bad frees without room in the file */
    const char *
        *tags; /* LEAK_TAGS + 1, with the names of all tags of sites. NULL = no site has one */
    uint64_t tags_left_out;           /* pushes of names without room in the file */
    struct store_resource *resources; /* in no order; malloc'd */
    size_t resource_count;
    uint64_t resources_opened[LEAK_RESOURCE_MAX], resources_missed;
    struct store_leak_check
        *look; /* the last one; NULL = none. rung NONE: it failed, with a reason */
    struct leak_snapshot *failed; /* a later one that failed, or NULL */
    struct store_milestone *milestones;
    size_t milestone_count; /* ascending by tick */
    enum {
        WINDOW_NONE,  /* everything is reported */
        WINDOW_SINCE, /* only what is newer than a milestone, also after the leak check */
        WINDOW_UNTIL, /* only what is older than a milestone before the leak check */
    } window;
    struct store_crash *crash;       /* NULL = none */
    struct store_followed *followed; /* only blocks that were allocated */
    size_t followed_count;
    struct store_counter counter;
    struct store_history history;
    struct store_suppressions suppressions[STORE_SUPPRESSIONS_MAX];
    size_t suppressions_count;
    const char *broken; /* what is wrong with the file: parts of it are missing; NULL = nothing */
    const char **notes; /* what is unusual about the file, for the report */
    size_t note_count, note_capacity;
};

/* Adds a sentence to the notes, unless it is there already. */
void store_add_note(struct store *store, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The generation of a module that was at pc when the node was made, or NULL. */
const struct store_module *store_find_module(const struct store *store, uint64_t pc,
                                             uint32_t number);

/* The last module that was at pc, or NULL. */
const struct store_module *store_find_last_module(const struct store *store, uint64_t pc);

/* Is the node a Python frame? */
bool store_node_is_python(const struct store *store, uint32_t node);
/* The code of that frame; NULL: it was not recorded. */
const struct store_code *store_find_code(const struct store *store, uint32_t node);

/* Does the node stand for blocks from before libleak was loaded? */
bool store_node_is_older(const struct store *store, uint32_t node);

const struct store_thread *store_find_thread(const struct store *store, uint32_t serial);

/* The index of the site with this id, or STORE_NO_SITE. */
uint32_t store_find_site(const struct store *store, uint32_t id);

/* Copies the value of an option into text, cut to fit; false when it had its default. */
bool store_get_option(const struct store *store, const char *name, char *text, size_t size);

/* CLOCK_REALTIME nanoseconds of a tick. */
uint64_t store_time_of_tick(const struct store *store, uint32_t tick);

/* Checks the invariants above; false: *broken names one. For tests. */
bool store_check(const struct store *store, const char **broken);

void store_end(struct store *store); /* frees what is not in the arena */

/* How the process ended; when the file does not say, /proc tells whether it runs. */
enum end_how store_end_how(const struct store *store);

/* ---- Windows of time (time_window.c) ----------------------------------------------------------
 *
 * What was allocated since one milestone, or between two. The last leak check counted what it found
 * by milestones; what is outside the window is part of no record. A milestone is named by the name
 * of its mark (the newest of equal ones), or "#3" for number 3. With neither the window is what is
 * newer than the newest milestone at which the program declared everything as known. */
struct time_window {
    const char *from, *until; /* NULL = from the start; to the end */
    bool known;               /* with neither: also what the program declared as known */
};

/* Restricts the store to what was allocated since a milestone. False: there is no such milestone,
 * or no leak check after it; *text says so and what to do. */
bool time_window_apply(struct store *store, const struct time_window *since, char *text,
                       size_t size);

#endif
