/* store.h - one process's account, as plain checked data.
 *
 * What the reader makes of a store file: every id has become an index that is in range, every
 * parent is below its child, every text is terminated, every count is at rest. Nothing above the
 * reader looks at the file's own structs again. All memory belongs to the caller's arena.
 */
#ifndef COMMON_STORE_STORE_H
#define COMMON_STORE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "leak_store.h"
#include "common/base/arena.h"
#include "common/base/interval_map.h"

/* Roots of the file are 1..5; this one is ours: the node a trace goes on with is not in the file.
 */
#define STORE_ROOT_MISSING (LEAK_NODE_FIRST - 1)
#define STORE_NO_SITE UINT32_MAX
#define STORE_NONE UINT32_MAX /* of anything else that is named by an index */

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

struct store_node {
    uint64_t pc;     /* 0 = never published; below LEAK_KIND_PCS = a leaf, to be passed over */
    uint32_t parent; /* index of a node below this one, or a root */
    uint32_t number;
};

struct store_site {
    uint32_t id;
    uint32_t node; /* index, or a root */
    uint32_t kind; /* enum leak_kind */
    uint32_t tag;  /* index in the store's tags, 0 = none */
    uint32_t first, last;
    uint32_t threads[LEAK_SITE_THREADS];
    bool more_threads;
    bool inherited;            /* counts what the parent handed down at fork */
    struct leak_counts counts; /* folded plus slots */
    uint64_t live_bytes, live_blocks;
    struct leak_variance variance; /* of these; all zero when nothing lives */
    size_t freed, freed_count;     /* where its blocks were freed: these of the store's */
};

/* Blocks of one site that were freed by one stack. */
struct store_freed {
    uint32_t site;          /* index */
    uint32_t node;          /* index, or a root */
    uint64_t blocks, bytes; /* estimates, unless free_stacks=all without sample= */
};

/* One of the last frees of a thread. */
struct store_recent {
    uint64_t address, pc;
    uint32_t node;   /* index, or a root; LEAK_ROOT_NONE = only pc, the return address, is known */
    uint32_t site;   /* index, or STORE_NO_SITE */
    uint32_t thread; /* serial */
    uint32_t tick;
    uint32_t form;      /* enum leak_form, NONE = not known */
    uint64_t size_most; /* of the block: it was up to LEAK_RECENT_UNIT - 1 smaller; 0 = not known */
};

/* A wrong release, see leak_store.h; type, form and place are known ones. */
struct store_event {
    struct leak_event event;   /* only its numbers, but: */
    uint32_t site;             /* index, or STORE_NO_SITE */
    uint32_t node, freed_node; /* index, or a root; LEAK_ROOT_NONE = only the pc is known */
    const char *block_pool, *call_pool; /* names; may hold any bytes; NULL = none */
};

/* Who did something to a resource. */
struct store_mark {
    uint32_t node; /* index, or a root; LEAK_ROOT_NONE = nobody saw it */
    uint32_t thread, tick;
};

/* What is open besides memory; or the closes by one stack of what was not open. */
struct store_resource {
    enum leak_resource_type type;
    bool bad_close;
    enum leak_sort sort;
    unsigned flags; /* enum leak_resource_flag */
    enum leak_name_form name_form;
    const char *name; /* may hold any bytes */
    size_t name_length;
    uint32_t count;
    uint64_t id, bytes;
    struct store_mark opened, closed, again;
    int32_t fd;
};

/* ---- What a look found, see leak_store.h: places in tables are in range, flags and words known.
 */

/* Blocks of one site with one verdict. What did not hold has LEAK_VERDICT_NONE and no blocks. */
struct store_found {
    uint32_t site; /* index */
    enum leak_verdict verdict;
    unsigned flags; /* enum leak_found_flag */
    uint32_t owner; /* index of another one, which is LOST, or STORE_NONE */
    uint32_t root;  /* index of a store_held, or STORE_NONE */
    uint32_t first, last;
    uint32_t path, path_count;     /* these of the steps */
    uint32_t sample, sample_count; /* and of the samples */
    uint64_t blocks, bytes, retained_blocks, retained_bytes;
    uint64_t window_blocks, window_bytes; /* of these, what is in the window */
};

struct store_step {
    uint64_t offset, size;
    uint32_t site; /* index, or STORE_NO_SITE */
    uint32_t into;
};

struct store_seen_thread {
    const char *name;
    uint32_t serial; /* 0 = a thread that never allocated */
    int32_t tid;
    bool parked, taker;
    uint32_t pc, pc_count; /* these of the pcs: its stack */
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

struct store_look {
    struct leak_snapshot head; /* only its numbers */
    struct store_found *found;
    struct leak_held *roots;  /* of a known class */
    struct store_part *parts; /* what they hold, by site */
    struct store_step *steps;
    struct leak_sample *samples;
    uint8_t *contents; /* these of it are in range */
    struct store_seen_thread *threads;
    uint64_t *pcs;
    struct store_module *modules;
    struct store_orphan *orphans;
    struct leak_age *ages;         /* of something that was found */
    struct leak_pointer *pointers; /* to the block that somebody asked about */
    size_t age_count, pointer_count;
    size_t found_count, root_count, step_count, sample_count, thread_count, pc_count;
    size_t module_count, content_count, orphan_count, part_count;
    struct spans module_spans; /* values are indices of modules */
};

/* A signal that killed, see leak_store.h: counts are in range, texts are terminated. */
struct store_crash {
    struct leak_crash head;
    uint32_t near_site[1 + LEAK_CRASH_REGISTERS]; /* index, or STORE_NO_SITE: there is no block */
    struct store_module *modules;
    size_t module_count;
    struct spans module_spans; /* values are indices of modules */
};

/* What a program says of leaks that are known, or the file it names. */
struct store_suppressions {
    const char *where, *text; /* no NULs in it */
    size_t length;
};
#define STORE_SUPPRESSIONS_MAX 4 /* texts; more are left out */

/* The heap at one time. */
struct store_moment {
    uint32_t tick;
    uint64_t bytes, blocks;
};

/* A site over time: its entry of each row is at values[row * series_count + its own index]. */
struct store_series {
    uint32_t site;    /* index */
    size_t first_row; /* rows before it are about another site */
    uint64_t peak;
};

struct store_peak_site {
    uint32_t site; /* index */
    uint64_t bytes, blocks;
};

/* A moment to tell older from newer by. */
struct store_milestone {
    uint32_t number, tick;
    uint64_t when_ns;
    bool is_look, is_known;
    const char *name;
};

struct store_history {
    uint64_t limit;
    enum leak_limit limit_of; /* NONE: there is no limit, or nobody looked */
    struct store_moment *moments;
    size_t moment_count; /* ascending by tick, like the rows */
    uint32_t *rows;      /* their ticks */
    size_t row_count;
    struct store_series *series;
    size_t series_count;
    struct leak_row_entry *values;
    struct store_moment peak;           /* bytes 0: nobody wrote it down */
    struct store_peak_site *peak_sites; /* those that held most then, the largest first */
    size_t peak_site_count;
};

struct store {
    struct mem *mem;
    const char *path;
    struct leak_header header; /* only its numbers; use host below */
    const char *host, *exe, *cwd, *options;
    struct leak_own own; /* used 0: not known */
    const char **argv;
    size_t argc;
    struct store_module *modules;
    size_t module_count;
    struct spans module_spans; /* values are indices of modules */
    struct store_thread *threads;
    size_t thread_count; /* ascending by serial */
    struct store_node *nodes;
    size_t node_count; /* indices LEAK_NODE_FIRST .. node_count - 1 are nodes */
    struct store_site *sites;
    size_t site_count; /* ascending by id */
    struct store_freed *freed;
    size_t freed_count; /* ascending by site, then descending by blocks */
    struct store_recent *recent;
    size_t recent_count;    /* newest first; within one tick thread by thread */
    uint64_t free_captures; /* stacks of frees that were taken */
    struct store_event *events;
    size_t event_count;
    uint64_t events_left_out; /* calls that there was no room for */
    const char **tags; /* LEAK_TAGS + 1; those that sites have are there. NULL = no site has one */
    uint64_t tags_left_out;           /* pushes of names that there was no room for */
    struct store_resource *resources; /* in no order; malloc'd */
    size_t resource_count;
    uint64_t resources_opened[LEAK_RESOURCE_MAX], resources_missed;
    struct store_look *look; /* the last one; NULL = none. rung NONE: it says why there is none */
    struct leak_snapshot *failed; /* a later one that could not be made, or NULL */
    struct store_milestone *milestones;
    size_t milestone_count; /* ascending by tick */
    enum {
        WINDOW_NONE,  /* everything is told */
        WINDOW_SINCE, /* only what came since a milestone, also after the look … */
        WINDOW_UNTIL, /* … or until another one, before the look */
    } window;
    struct store_crash *crash; /* NULL = none */
    struct store_history history;
    struct store_suppressions suppressions[STORE_SUPPRESSIONS_MAX];
    size_t suppressions_count;
    const char **notes; /* what was odd about the file, for the report */
    size_t note_count, note_capacity;
};

/* Add a sentence to the notes; the same sentence twice is one note. */
void store_note(struct store *store, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The generation of a module that was at pc when the node was made, or NULL. */
const struct store_module *store_module_of(const struct store *store, uint64_t pc, uint32_t number);

/* The last one that was at pc, whatever was there before, or NULL. */
const struct store_module *store_last_module_of(const struct store *store, uint64_t pc);

const struct store_thread *store_thread_of(const struct store *store, uint32_t serial);

/* The index of the site with this id, or STORE_NO_SITE. */
uint32_t store_site_of(const struct store *store, uint32_t id);

/* How an option was set: its value into text, cut to fit; false when it had its default. */
bool store_option(const struct store *store, const char *name, char *text, size_t size);

/* CLOCK_REALTIME nanoseconds of a tick. */
uint64_t store_time(const struct store *store, uint32_t tick);

/* The invariants above, as a function: false names the broken one. For tests. */
bool store_check(const struct store *store, const char **broken);

void store_end(struct store *store); /* what is not in the arena */

#endif
