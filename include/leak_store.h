/* leak_store.h - the layout of a store, the one file a process leaves behind.
 *
 * Picture: a sparse file of pages. Page 0 is the header; after it come chunks, each a whole number
 * of pages, each opening with the same 64 bytes. The process under libleak is the only writer of
 * its account; a reader may look at any instant, also after SIGKILL, and treats every number
 * as hostile. Data only: no function lives here. docs/STORE.md is the guided tour with a hexdump.
 *
 * Publication: a writer reserves space by adding to header.used, fills, and publishes last with a
 * release store (chunk.magic, then each record's own "publish" word, marked so below). What is
 * not published is zero, and readers skip it.
 *
 * The equation:  live(site) = folded(site) + sum over threads of slots(site),
 *                where each term is allocs - frees (and bytes - freed_bytes).
 */
#ifndef LEAK_STORE_H
#define LEAK_STORE_H

#include <stdint.h>

#define LEAK_STORE_MAGIC 0x31304b41454c4c42ull /* "BLLEAK01" read as little endian */
#define LEAK_STORE_VERSION 1
#define LEAK_PAGE 4096ull
#define LEAK_CHUNK_MAGIC 0x4b4e4843u /* "CHNK" */
#define LEAK_BUILD_ID_MAX 32
#define LEAK_THREAD_NAME 16
#define LEAK_SITE_THREADS 3

/* One tick of the epoch word, the only clock of the hot path: 1/8 second. */
#define LEAK_TICKS_PER_SECOND 8

/* Time stamps: "ns" is CLOCK_REALTIME in nanoseconds; "tick" is an epoch word since started_ns. */

/* ---- What a process is and how it ended ------------------------------------------------- */

enum leak_end {
    LEAK_END_NONE = 0,   /* not seen: running, or lost when the process is gone */
    LEAK_END_EXIT = 1,   /* exit status in end_value */
    LEAK_END_SIGNAL = 2, /* signal number in end_value */
    LEAK_END_EXEC = 3,   /* exec attempted and not come back */
};

/* What could not be tracked, counted and said. X(NAME, words for the report) */
#define LEAK_UNTRACKED_TABLE(X)                                                                    \
    X(NESTED, "allocations made while libleak itself was running in the same thread")              \
    X(BOOT, "allocations made before libleak was ready")                                           \
    X(FILTERED, "allocations left out by min_size, max_size or start=off")                         \
    X(NO_MEMORY, "allocations not tracked: the limit max_memory was reached or memory ran out")    \
    X(STORE_FULL, "allocations recorded in memory only: the recording file was full")              \
    X(DEEPBIND, "libraries loaded with RTLD_DEEPBIND, whose calls may bypass libleak")             \
    X(OWN_ALLOCATOR, "programs that define malloc themselves: calls from the program itself")      \
    X(ABANDONED, "calls left by a longjmp out of a signal handler while libleak was running")      \
    X(PROGRAMS,                                                                                    \
      "programs started without libleak: static, setuid, 32-bit, built on musl or "                \
      "with a sanitizer, for a user who may not read it, or with an environment of their own")

enum leak_untracked {
#define X(name, words) LEAK_UNTRACKED_##name,
    LEAK_UNTRACKED_TABLE(X)
#undef X
        LEAK_UNTRACKED_MAX
};

enum leak_header_flag {
    LEAK_FLAG_FORKED = 1,      /* a fork child: sites below inherited_sites came from the parent */
    LEAK_FLAG_NO_STACKS = 2,   /* site_stacks=off */
    LEAK_FLAG_FILTERED = 4,    /* min_size, max_size ...: unknown frees mean nothing */
    LEAK_FLAG_FULL = 8,        /* the store ran out of room: the newest sites are missing */
    LEAK_FLAG_ASKED = 16,      /* sample=: it allocates, whether a sample was met or not */
    LEAK_FLAG_CRASH_ONLY = 32, /* crash=only: blocks are not tracked at all */
    LEAK_FLAG_OUT_OF_MEMORY = 64, /* by leakwatch: the kernel killed it for want of memory */
    LEAK_FLAG_LATE = 256,         /* the process ran already: blocks from before are not known */
    LEAK_FLAG_NEVER_ENABLED =
        128, /* start=off and its like: it began disabled, and nobody has enabled it */
};

/* ---- Requests ---------------------------------------------------------------------------
 *
 * What leakctl asks of a running process: it claims the one place there is, fills it, stores ASKED and
 * sends the signal that libleak keeps for itself. Whichever thread gets it takes the request as soon
 * as it is outside of the runtime, does it, and answers; leakctl reads the answer and gives the place
 * back. leakctl takes a request back that nobody took (ASKED to CLAIMED, by a compare and swap, as
 * ASKED to TAKEN is), and clears one whose asker is dead. */

/* X(NAME, word) */
#define LEAK_VERB_TABLE(X)                                                                         \
    X(SNAPSHOT, "snapshot")                                                                        \
    X(MARK, "mark")                                                                                \
    X(ENABLE, "enable")                                                                            \
    X(DISABLE, "disable")                                                                          \
    X(WHO, "who")

enum leak_verb {
    LEAK_VERB_NONE = 0,
#define X(name, word) LEAK_VERB_##name,
    LEAK_VERB_TABLE(X)
#undef X
        LEAK_VERB_MAX
};

enum leak_request_state {
    LEAK_REQUEST_FREE = 0,
    LEAK_REQUEST_CLAIMED,  /* by the asker: being filled, or being read */
    LEAK_REQUEST_ASKED,    /* by the asker */
    LEAK_REQUEST_TAKEN,    /* by the process */
    LEAK_REQUEST_ANSWERED, /* by the process */
};

/* A(NAME, words for "leakctl: ...") */
#define LEAK_ANSWER_TABLE(A)                                                                       \
    A(DONE, "done")                                                                                \
    A(NO_LOOK, "no look could be made; the report says why")                                       \
    A(UNKNOWN, "the library in the process does not know this verb")                               \
    A(NO_NAME, "a mark needs a name")                                                              \
    A(NO_ROOM, "the store has no room for another mark")

enum leak_answer {
    LEAK_ANSWER_NONE = 0,
#define A(name, words) LEAK_ANSWER_##name,
    LEAK_ANSWER_TABLE(A)
#undef A
        LEAK_ANSWER_MAX
};

/* The signal carries it (sigqueue), so that it is told apart from one that asks for a look. */
#define LEAK_REQUEST_VALUE 0x6c72

#define LEAK_MILESTONE_NAME 32
struct leak_request {
    uint32_t state;       /* publish: enum leak_request_state */
    uint32_t verb;        /* enum leak_verb */
    uint32_t answer;      /* enum leak_answer */
    int32_t asker;        /* pid … */
    uint64_t asker_start; /* … and start time of who asks */
    uint64_t
        argument; /* WHO: an address. Answered: number of the milestone that was made; 0 = none */
    char name[LEAK_MILESTONE_NAME]; /* MARK: NUL-terminated */
};

/* Page 0. Fixed for version 1; a reader refuses other versions by name. */
struct leak_header {
    uint64_t magic; /* publish: written last */
    uint32_t version;
    uint32_t header_size; /* sizeof(struct leak_header) */
    uint32_t machine;     /* ELF e_machine */
    uint32_t flags;       /* enum leak_header_flag, atomic or */
    uint64_t file_size;   /* as created: sparse, never changes */
    uint64_t used;        /* bytes reserved so far, atomic add, header page included */

    int32_t pid, ppid; /* of a fork child: ppid is the process whose account it inherited */
    uint64_t
        start_time; /* of the process: field 22 of /proc/PID/stat, names it together with pid */
    uint64_t started_ns;
    uint64_t ended_ns; /* 0 = end not seen */
    uint32_t end_how;  /* enum leak_end */
    int32_t end_value;
    uint64_t inherited_sites; /* fork child: sites 1..N count only what the parent handed down */

    uint32_t epoch;   /* ticks since started_ns; written by whoever notices that time has passed */
    uint32_t exec_at; /* tick of an exec attempted and not undone, else 0 */
    uint64_t folds;   /* changes whenever counts move between a slot and a site: a live reader
                         compares it before and after, and reads again if it moved */
    uint64_t live_bytes; /* batched per thread: within 64 KiB a thread of the sum over sites */
    uint64_t peak_bytes; /* the highest live_bytes seen */
    uint64_t peak_ns;
    uint64_t unknown_frees;
    uint64_t nodes;   /* reserved so far; node ids are 1..nodes */
    uint64_t sites;   /* likewise */
    uint64_t threads; /* threads ever seen */
    uint64_t modules;
    uint64_t untracked[LEAK_UNTRACKED_MAX];
    /* unwind_check=N: traces compared with those of another unwinder; those that differ; and those
       that end early, are marked so, and where the other one goes on */
    uint64_t unwind_checks, unwind_mismatches, unwind_stops;
    char host[64]; /* NUL-terminated */
    uint64_t
        sample; /* the option: one byte in that many was looked at, and all counts of blocks and
                        bytes are estimates; 0 = every block */
    struct leak_request request; /* written by who asks, too */
};

/* ---- Chunks ------------------------------------------------------------------------------ */

enum leak_chunk_type {
    LEAK_CHUNK_PROCESS = 1, /* one struct leak_process */
    LEAK_CHUNK_OPTIONS,  /* text: "name=value (source)\n" for each option that is not the default */
    LEAK_CHUNK_MODULES,  /* struct leak_module, packed one behind the other, 8-byte aligned */
    LEAK_CHUNK_THREADS,  /* array of struct leak_thread */
    LEAK_CHUNK_NODES,    /* array of struct leak_node; the first one has id chunk.first */
    LEAK_CHUNK_SITES,    /* array of struct leak_site; likewise */
    LEAK_CHUNK_SLOTS,    /* one struct leak_slots: the counters of one thread */
    LEAK_CHUNK_HISTORY,  /* one struct leak_history: the heap over time, and its peak */
    LEAK_CHUNK_EVENTS,   /* one struct leak_events: blocks that were released wrongly */
    LEAK_CHUNK_SNAPSHOT, /* one struct leak_snapshot and its tables: what a look found */
    LEAK_CHUNK_FREED,    /* array of struct leak_freed; the first one has number chunk.first */
    LEAK_CHUNK_RECENT,   /* one struct leak_recent: the last frees of one thread */
    LEAK_CHUNK_VARIANCES, /* array of struct leak_variance; the first one is site chunk.first's */
    LEAK_CHUNK_SUPPRESSIONS, /* text: where it is from, NUL, suppressions as LeakSanitizer's or
                                Valgrind's files have them */
    LEAK_CHUNK_CRASH,        /* one struct leak_crash and its modules: a signal that kills */
    LEAK_CHUNK_RESOURCES,  /* array of struct leak_resource, in no order, one of them the totals */
    LEAK_CHUNK_ROWS,       /* LEAK_ROWS_A_CHUNK struct leak_row: some sites over time */
    LEAK_CHUNK_MILESTONES, /* array of struct leak_milestone, in no order */
    LEAK_CHUNK_OWN,        /* one struct leak_own, written when the process ends */
    LEAK_CHUNK_TAGS,       /* one struct leak_tags: names that the program gives to its blocks */
    LEAK_CHUNK_POOLS, /* array of struct leak_pool: names that wrong releases have to do with */
};
/* Readers skip chunk types they do not know. */

struct leak_chunk {
    uint32_t magic; /* publish: LEAK_CHUNK_MAGIC, written after the rest of this struct */
    uint32_t type;
    uint64_t offset; /* of this chunk in the file: a stray page cannot look like a chunk */
    uint64_t size;   /* whole pages, this struct included */
    uint64_t first;  /* id of the first record, for arrays numbered across chunks */
    uint64_t length; /* publish: payload bytes valid so far, for packed chunks (PROCESS, OPTIONS,
                        MODULES, SNAPSHOT, SUPPRESSIONS, CRASH). Arrays publish record by record; theirs is the room for records
                        in bytes (the pages may hold a few more), 0 = all of the payload */
    uint64_t reserved[3];
};
#define LEAK_SUPPRESSIONS_MAX (64u << 10) /* bytes of a text of them, where it is from aside */
/* A reader that meets no valid chunk at an offset goes on one page later. */

/* ---- Records ----------------------------------------------------------------------------- */

/* The runtime's own memory at the end: used = mapped + charged, or something of it has no owner. */
struct leak_own {
    uint64_t used;    /* as it counts against max_memory */
    uint64_t mapped;  /* the sum of the mappings that are written down */
    uint64_t charged; /* memory that lives elsewhere: the store's */
};

struct leak_process { /* followed by exe, NUL, cwd, NUL, argv strings each with its NUL */
    uint32_t exe_length, cwd_length; /* without the NUL */
    uint32_t argc;                   /* strings stored: a very long argv is cut */
    uint32_t argv_length;            /* bytes of all strings, NULs included */
};

/* One generation of one mapped object. pc belongs to it when start <= pc < end; the offset to look
 * up in the ELF file is pc - bias. */
struct leak_module {
    uint32_t length; /* of this record, path included, a multiple of 8 */
    uint32_t build_id_length;
    uint64_t start, end, bias;
    uint32_t loaded;   /* serial of the loader event that showed it */
    uint32_t unloaded; /* serial of the one that showed it gone; 0 = still there */
    uint64_t loaded_ns, unloaded_ns;
    uint8_t build_id[LEAK_BUILD_ID_MAX];
    uint32_t path_length; /* without the NUL */
    char path[];          /* NUL-terminated, padded with NULs */
};

struct leak_thread {
    uint32_t serial; /* publish: 1, 2, 3 ...: T1 is the main thread */
    int32_t tid;
    uint32_t started, ended; /* ticks + 1; ended 0 = lives */
    uint64_t allocations;    /* made by it so far: the n of T1#n; with sample=, samples */
    /* How its stacks were found: all others were in the leaf cache. */
    uint64_t walks;
    uint64_t frames_walked, frames_shared; /* one by one; verified to be those of the walk before */
    char name[LEAK_THREAD_NAME];
};

/* A node of the calling-context tree. Ids below LEAK_NODE_FIRST are roots and are not stored:
 * they say how a trace ended. A pc below LEAK_KIND_PCS is no address but makes the node a leaf:
 * pc = kind + (tag << LEAK_TAG_SHIFT), and "number" is then the id of the site. */
enum leak_root {
    LEAK_ROOT_NONE = 0,
    LEAK_ROOT_COMPLETE = 1,  /* the trace reached the outermost frame */
    LEAK_ROOT_DEPTH = 2,     /* cut at the option depth= */
    LEAK_ROOT_BROKEN = 3,    /* the stack did not look right any more */
    LEAK_ROOT_NO_RULE = 4,   /* no (or no usable) unwind information for a frame: JIT, assembly */
    LEAK_ROOT_NO_STACKS = 5, /* site_stacks=off */
    LEAK_ROOT_DISABLED = 6,  /* made while libleak was disabled (start=off, libleak_disable, leakctl
                                disable): no stack, and nobody calls its blocks a leak */
    LEAK_NODE_FIRST = 8
};
#define LEAK_KIND_PCS 4096
#define LEAK_PC_FREE 4095 /* a leaf too, but of a free's stack: "number" is 0 */
#define LEAK_TAG_SHIFT 3  /* kinds are 1 to 1 << LEAK_TAG_SHIFT */

/* What is above these bits of the two is the writer's own (preload/unwind/context_tree.c). */
#define LEAK_PC_BITS 48
#define LEAK_PC_MOST ((1ull << LEAK_PC_BITS) - 1)
#define LEAK_NODE_BITS 26
#define LEAK_NODE_MOST ((1u << LEAK_NODE_BITS) - 1)

struct leak_node {
    uint64_t pc;     /* publish. Return address (look names up at pc - 1), LEAK_PC_BITS of it */
    uint32_t parent; /* the caller's node, or a root: LEAK_NODE_BITS */
    uint32_t number; /* frame: serial of the last unload that covered pc before this node was made:
                        its module is the first generation around pc with loaded > number.
                        leaf: site id */
};

#define LEAK_KIND_TABLE(X)                                                                         \
    X(MALLOC, "malloc")                                                                            \
    X(NEW, "new")                                                                                  \
    X(NEW_ARRAY, "new[]")                                                                          \
    X(ALIGNED_NEW, "aligned new")                                                                  \
    X(ALIGNED_NEW_ARRAY, "aligned new[]")                                                          \
    X(MEMALIGN, "memalign")                                                                        \
    X(CUSTOM, "custom")                                                                            \
    X(POOL, "pool")

/* The last two are of the program's own allocators, which tell of their blocks (libleak.h). */
enum leak_kind {
    LEAK_KIND_NONE = 0,
#define X(name, word) LEAK_KIND_##name,
    LEAK_KIND_TABLE(X)
#undef X
        LEAK_KIND_MAX
};

/* How a block is released. F(NAME, word) */
#define LEAK_FORM_TABLE(F)                                                                         \
    F(FREE, "free")                                                                                \
    F(FREE_SIZED, "free_sized")                                                                    \
    F(FREE_ALIGNED_SIZED, "free_aligned_sized")                                                    \
    F(REALLOC, "realloc")                                                                          \
    F(DELETE, "delete")                                                                            \
    F(DELETE_SIZED, "sized delete")                                                                \
    F(DELETE_ARRAY, "delete[]")                                                                    \
    F(DELETE_ARRAY_SIZED, "sized delete[]")                                                        \
    F(ALIGNED_DELETE, "aligned delete")                                                            \
    F(ALIGNED_DELETE_SIZED, "sized aligned delete")                                                \
    F(ALIGNED_DELETE_ARRAY, "aligned delete[]")                                                    \
    F(ALIGNED_DELETE_ARRAY_SIZED, "sized aligned delete[]")                                        \
    F(BLOCK_GONE, "libleak_block_gone")                                                            \
    F(BLOCK_RESIZE, "libleak_block_resize")                                                        \
    F(POOL_FREE, "libleak_pool_free")                                                              \
    F(POOL_DESTROY, "libleak_pool_destroy")

enum leak_form {
    LEAK_FORM_NONE = 0,
#define F(name, word) LEAK_FORM_##name,
    LEAK_FORM_TABLE(F)
#undef F
        LEAK_FORM_MAX
};

struct leak_counts {
    uint64_t allocs, bytes, frees, freed_bytes;
};

/* Names that the program gives to what it allocates (libleak_tag_push); never taken back. Only a
 * program that does has the chunk. */
#define LEAK_TAGS 510
#define LEAK_TAG_NAME 60
struct leak_tag {
    uint32_t length;          /* publish: of the name, 1 to LEAK_TAG_NAME - 1 */
    char name[LEAK_TAG_NAME]; /* NUL-terminated; the beginning of a longer one */
};
struct leak_tags {
    uint64_t left_out; /* pushes of further names: there was no room for these */
    uint64_t reserved[7];
    struct leak_tag tag[LEAK_TAGS]; /* eight pages, with the chunk's head */
};

/* The folded counts of a stack. 64 bytes: one cache line, and nothing of it is written on the way of
 * an allocation. */
struct leak_site {
    uint32_t node;        /* publish: the innermost frame's node, or a root */
    uint8_t kind;         /* enum leak_kind */
    uint8_t more_threads; /* 1 = more threads allocated here than fit below */
    uint16_t tag;         /* 1, 2 …: the entry of struct leak_tags, less 1; 0 = none */
    uint32_t first;       /* tick of the first allocation */
    uint32_t last;        /* tick of the last one folded in */
    uint32_t lock;        /* the writer's; readers ignore it */
    uint32_t threads[LEAK_SITE_THREADS]; /* serials of threads that allocated here, 0 = none */
    struct leak_counts counts;
};

/* Where the blocks of a site were freed: one record for each pair of allocation site and stack of
 * the free. With free_stacks=sample, and with sample=, "blocks" and "bytes" are estimates: a thread
 * looks at its first free of a site, then at one in ONE_IN, and when it has freed MANY of that site
 * at one in ONE_IN_MANY, which stands for all those that were not looked at; of samples each is
 * looked at, and stands for as many blocks as the sample did. */
#define LEAK_FREED_FIRST 1
#define LEAK_FREED_ONE_IN 64
#define LEAK_FREED_MANY 4096
#define LEAK_FREED_ONE_IN_MANY 512
struct leak_freed {
    uint32_t site; /* publish */
    uint32_t node; /* the innermost frame of the free, or a root */
    uint64_t blocks, bytes;
};

/* The last frees of one thread, a ring: next - 1 is the newest. Plain stores by the owner alone; the
 * entry being written may be half of the old and half of the new one. */
#define LEAK_RECENT_UNIT 16
#define LEAK_RECENT 124 /* one page, with the chunk's head */
struct leak_recent_free {
    uint64_t address;
    uint64_t pc;   /* the free's return address … */
    uint32_t node; /* … and its innermost frame; 0 = this one was not looked at, only pc is known */
    uint32_t site; /* of the allocation */
    uint32_t tick;
    uint32_t
        size_form; /* size of the block in units of LEAK_RECENT_UNIT, rounded up (the 24 high bits;
                           all ones = that or more), and enum leak_form */
};
struct leak_recent {
    uint32_t thread;      /* serial of the owner, 0 = none any more: what stands there is history */
    uint32_t last_thread; /* whose history */
    uint64_t next;        /* frees so far */
    uint64_t captures;    /* of stacks that are no allocation's, by all owners this ring ever had */
    uint64_t reserved[5];
    struct leak_recent_free free[LEAK_RECENT];
};

/* With sample=: how far off a site's counts of live blocks may be. A block of s bytes is met with
 * probability p = 1 - exp(-(s + 1) / sample) and counted as floor(1/p) blocks or, with probability
 * f = frac(1/p), as one more. It adds v = (1 - p) / p^2 + f (1 - f) to the variance of the blocks, and
 * v s^2 to that of the bytes. Each word is a sum over live samples, added to and taken from
 * atomically, modulo 2^64; all zero is the beginning, so nothing is published. */
#define LEAK_VARIANCE_BLOCKS 0x1p8 /* "blocks" counts 1/256 */
#define LEAK_VARIANCE_BYTES 0x1p32 /* "bytes" counts sample^2 / 2^32 */
struct leak_variance {
    uint64_t samples; /* that live */
    uint64_t blocks, bytes;
    uint64_t reserved;
};

/* The counters of one thread. A slot is valid when site != 0. Plain stores by the owner alone. */
struct leak_slot {
    uint32_t site; /* publish */
    uint32_t last; /* tick of the last allocation */
    struct leak_counts counts;
};

/* A slot moves into its site by way of "fold": the sum is written there, then fold_site in one
 * word says that from now on this sum is the site's and the slot counts no more; then the site gets
 * the sum, the slot is cleared, and fold_site goes back to 0. So at every instant each count is
 * there exactly once, for whoever reads:
 *     folded(site) = fold of the one thread whose fold_site is the site, else site.counts */
struct leak_slots {
    uint32_t thread;    /* serial of the owner, 0 = no owner: every slot is empty then */
    uint32_t count;     /* slots that follow */
    uint32_t fold_site; /* publish */
    uint32_t fold_slot; /* index of the slot that goes in */
    struct leak_counts fold;
    uint64_t reserved[2];
    struct leak_slot slot[];
};

/* ---- Misuse -------------------------------------------------------------------------------
 *
 * What was released in a wrong way. Equal ones are one record with a count: of one type, by one form
 * and stack, and of blocks of one site. It stands here before the wrong call goes on. */

/* T(NAME, word) */
#define LEAK_EVENT_TABLE(T)                                                                        \
    T(MISMATCHED_FREE, "mismatched-free")                                                          \
    T(DOUBLE_FREE, "double-free")                                                                  \
    T(INVALID_FREE, "invalid-free")                                                                \
    T(INTERIOR_FREE, "interior-free")                                                              \
    T(BAD_REALLOC, "bad-realloc")                                                                  \
    T(SIZE_MISMATCH, "size-mismatch")                                                              \
    T(ALIGNMENT_MISMATCH, "alignment-mismatch")                                                    \
    T(POOL_LEAK, "pool-leak")

enum leak_event_type {
    LEAK_EVENT_NONE = 0,
#define T(name, word) LEAK_EVENT_##name,
    LEAK_EVENT_TABLE(T)
#undef T
        LEAK_EVENT_MAX
};

/* INVALID_FREE: what lies at the address. W(NAME, words) */
#define LEAK_PLACE_TABLE(W)                                                                        \
    W(STACK, "on the stack of the thread")                                                         \
    W(OTHER_STACK, "on the stack of another thread")                                               \
    W(OBJECT, "in the code or data of a program or library")                                       \
    W(UNMAPPED, "where there is no memory")                                                        \
    W(NO_BLOCK, "where no such block begins")

enum leak_place {
    LEAK_PLACE_NONE = 0,
#define W(name, words) LEAK_PLACE_##name,
    LEAK_PLACE_TABLE(W)
#undef W
        LEAK_PLACE_MAX
};

/* All but the counts is of the first one. */
struct leak_event {
    uint32_t type;         /* publish: enum leak_event_type */
    uint8_t form;          /* enum leak_form: of the wrong call */
    uint8_t place;         /* enum leak_place */
    uint16_t block_thread; /* low bits of the serial of the thread that allocated the block … */
    uint32_t block_count;  /* … as its block_count-th; 0 = not known */
    uint32_t site;         /* of the block, 0 = it is no block */
    uint64_t address;      /* that was given */
    int64_t offset;        /* from the block's start */
    uint64_t size;         /* of the block */
    uint64_t said;         /* the size or alignment that the call gave … */
    uint64_t right;  /* … and, of an alignment, what it is; 0 = not known, or more than 2^18 */
    uint64_t pc;     /* the call's return address … */
    uint32_t node;   /* … and its innermost frame */
    uint32_t thread; /* serial, 0 = not known */
    uint32_t tick, last_tick;
    uint64_t count;
    /* DOUBLE_FREE: by whom it was freed before, as in struct leak_recent_free. */
    uint64_t freed_pc;
    uint32_t freed_node, freed_thread, freed_tick, freed_form;
    /* Numbers of struct leak_pool: that the block is of, and that the call names; 0 = it has no name. */
    uint32_t block_pool, call_pool;
    uint64_t reserved[1];
};

#define LEAK_EVENTS 254 /* eight pages, with the chunk's head */
struct leak_events {
    uint64_t left_out; /* calls for which there was no room */
    uint64_t reserved[15];
    struct leak_event event[LEAK_EVENTS];
};

/* A pool of the program's own, by the name that it was given. */
#define LEAK_POOL_NAME 56
#define LEAK_POOLS 63 /* one page, with the chunk's head: more have no names */
struct leak_pool {
    uint32_t number; /* publish: 1, 2, 3 … */
    uint32_t reserved;
    char name[LEAK_POOL_NAME]; /* NUL-terminated; what is longer is cut */
};

/* ---- Descriptors, files and the other things that are opened and closed ---------------------
 *
 * One record for each that is open; a place is used again, in no order. A writer clears the state,
 * fills, and stores the state last. */

/* X(NAME, word of the option track= and of reports) */
#define LEAK_RESOURCE_TABLE(X)                                                                     \
    X(FD, "fd")                                                                                    \
    X(FILE, "file")                                                                                \
    X(DIR, "dir")                                                                                  \
    X(MMAP, "mmap")                                                                                \
    X(DL, "dl")                                                                                    \
    X(THREAD, "thread")                                                                            \
    X(PAIR, "pair")

enum leak_resource_type {
    LEAK_RESOURCE_NONE = 0,
#define X(name, word) LEAK_RESOURCE_##name,
    LEAK_RESOURCE_TABLE(X)
#undef X
        LEAK_RESOURCE_MAX
};

enum leak_resource_state {
    LEAK_RESOURCE_FREE = 0,
    LEAK_RESOURCE_OPEN,
    LEAK_RESOURCE_CLOSED,    /* the runtime's own, never in a store */
    LEAK_RESOURCE_BAD_CLOSE, /* FD: a close that failed, since the number was not open */
    LEAK_RESOURCE_TOTALS,    /* no resource: struct leak_resource_totals */
};

enum leak_resource_flag {
    LEAK_RESOURCE_INHERITED = 1, /* open when the process began: its parent's doing */
    LEAK_RESOURCE_CUT = 2,       /* the name's beginning did not fit */
    LEAK_RESOURCE_PENDING = 4,   /* DL: whether dlopen succeeded is not known yet */
    LEAK_RESOURCE_NEVER = 8,     /* BAD_CLOSE: the number was never open */
    LEAK_RESOURCE_SWEEP = 16,    /* BAD_CLOSE: this stack closes all numbers there are */
    LEAK_RESOURCE_TAKEN = 32,    /* BAD_CLOSE: the number was somebody else's by then */
    LEAK_RESOURCE_SECOND = 64,   /* FD: made in one with another one: a pipe's other end */
};

/* X(NAME, words): made by what; told where there is no name */
#define LEAK_SORT_TABLE(X)                                                                         \
    X(OPEN, "open")                                                                                \
    X(SOCKET, "socket")                                                                            \
    X(PIPE, "pipe")                                                                                \
    X(DUP, "dup")                                                                                  \
    X(EVENTFD, "eventfd")                                                                          \
    X(EPOLL, "epoll")                                                                              \
    X(TIMERFD, "timerfd")                                                                          \
    X(SIGNALFD, "signalfd")                                                                        \
    X(INOTIFY, "inotify")                                                                          \
    X(MEMFD, "memfd")                                                                              \
    X(TERMINAL, "pseudo-terminal")                                                                 \
    X(STREAM, "stream")                                                                            \
    X(POPEN, "popen")                                                                              \
    X(MEMORY_STREAM, "memory stream")                                                              \
    X(DIRECTORY, "directory")                                                                      \
    X(ANONYMOUS, "anonymous memory")                                                               \
    X(MAPPED, "mapped file")                                                                       \
    X(LIBRARY, "library")                                                                          \
    X(THREAD, "thread")                                                                            \
    X(PAIR, "object")

enum leak_sort {
    LEAK_SORT_NONE = 0,
#define X(name, words) LEAK_SORT_##name,
    LEAK_SORT_TABLE(X)
#undef X
        LEAK_SORT_MAX
};

enum leak_name_form {
    LEAK_NAME_TEXT = 0,
    LEAK_NAME_PEER,  /* a struct sockaddr: whom a socket is connected to … */
    LEAK_NAME_LOCAL, /* … or the address it is bound to */
};

/* Who did it, and when. */
struct leak_mark {
    uint32_t node;   /* innermost frame, or a root; LEAK_ROOT_NONE = not seen */
    uint32_t thread; /* serial */
    uint32_t tick;
};

#define LEAK_RESOURCE_NAME 80
struct leak_resource {
    uint32_t state;    /* publish: enum leak_resource_state */
    uint8_t type;      /* enum leak_resource_type */
    uint8_t sort;      /* enum leak_sort */
    uint8_t flags;     /* enum leak_resource_flag */
    uint8_t name_form; /* enum leak_name_form */
    uint32_t count;    /* DL: opened so often by this stack. BAD_CLOSE: so many closes; else 1 */
    uint32_t name_length;
    uint64_t id;    /* FD, BAD_CLOSE: number; else an address */
    uint64_t bytes; /* MMAP: its size. THREAD: its serial */
    uint64_t owner; /* the runtime's own: a descriptor of a FILE or DIR is told with that */
    struct leak_mark opened;
    struct leak_mark closed, again; /* BAD_CLOSE: who closed it, and this close */
    int32_t fd;                     /* FILE, DIR: its descriptor, -1 = none */
    char name[LEAK_RESOURCE_NAME];
};

/* In the place of a struct leak_resource. */
struct leak_resource_totals {
    uint32_t state; /* publish: LEAK_RESOURCE_TOTALS */
    uint32_t reserved;
    uint64_t opened[8]; /* by enum leak_resource_type: ever, by this process */
    uint64_t missed;    /* what there was no room or no memory for */
    uint64_t rest[10];
};

/* ---- History --------------------------------------------------------------------------------
 *
 * How the heap, and the sites that hold most of it, came to where they are. Nothing here grows with
 * time: there is a fixed number of places, and when all are taken, the one whose neighbours are
 * closest together for their age is written anew (docs/GROWTH.md). So points and rows stand in no
 * order; each says its time. One process writes, under a lock; what is being written has tick 0. */

#define LEAK_HISTORY_POINTS 256
#define LEAK_HISTORY_COLUMNS 126
#define LEAK_HISTORY_ROWS 64
#define LEAK_ROWS_A_CHUNK 8 /* rows come as they are needed: eight pages for each eight seconds */
#define LEAK_PEAK_SITES 124

struct leak_point {
    uint32_t tick; /* publish: tick + 1 */
    uint32_t reserved;
    uint64_t live_bytes, live_blocks;
};

/* Entry i of each row written at "since" or later is about this site. */
struct leak_column {
    uint32_t site; /* publish */
    uint32_t since;
    uint64_t peak;      /* live bytes: the most that any row had */
    uint64_t freed_age; /* ticks that its freed blocks lived, an estimate of the sum; 0 with
                           free_stacks=off */
    uint64_t reserved;
};

struct leak_row_entry {
    uint64_t allocs, frees, live_bytes;
    uint64_t freed_age; /* the column's, then */
};

struct leak_row {
    uint32_t tick; /* publish: tick + 1 */
    uint32_t reserved[3];
    struct leak_row_entry at[LEAK_HISTORY_COLUMNS];
};

struct leak_peak_site {
    uint32_t site;
    uint32_t reserved;
    uint64_t bytes, blocks;
};

/* What lived when the heap was largest: written when it begins to fall, if by then it is 1/128
 * larger than what was written last. A process that dies at its peak has none: it lives. */
struct leak_peak {
    uint32_t number; /* publish: the higher one of the two counts; 0 = none */
    uint32_t tick;
    uint32_t count; /* sites that follow: those that held most, in no order */
    uint32_t reserved;
    uint64_t bytes, blocks; /* of all sites */
    struct leak_peak_site site[LEAK_PEAK_SITES];
};

/* X(NAME, words) */
#define LEAK_LIMIT_TABLE(X)                                                                        \
    X(ADDRESS_SPACE, "the limit of its address space")                                             \
    X(DATA, "the limit of its data")                                                               \
    X(CGROUP, "the memory limit of its cgroup")

enum leak_limit {
    LEAK_LIMIT_NONE = 0,
#define X(name, words) LEAK_LIMIT_##name,
    LEAK_LIMIT_TABLE(X)
#undef X
        LEAK_LIMIT_MAX
};

struct leak_history {
    uint64_t limit;    /* bytes that this process may have, as it was when it began; 0 = any */
    uint32_t limit_of; /* enum leak_limit */
    uint32_t reserved[13];
    struct leak_column column[LEAK_HISTORY_COLUMNS];
    struct leak_point point[LEAK_HISTORY_POINTS];
    struct leak_peak peak[2]; /* written in turn */
};

/* ---- Milestones ------------------------------------------------------------------------------
 *
 * Moments in the life of a process that blocks can be told to be older or newer than: marks with a
 * name, and looks that somebody asked for. Each begins a tick of its own, so a block is newer than
 * a milestone when its tick is not lower. When all places are taken the oldest is written over, but for
 * the last place: the newest one there that says that all before it is known. */

#define LEAK_MILESTONES 63
#define LEAK_MILESTONE_KNOWN "reported"
struct leak_milestone {
    uint32_t number; /* publish: 1, 2, 3 …; 0 while it is written */
    uint32_t tick;
    uint64_t when_ns;
    uint32_t is_look;  /* 1: that of a look; its name is empty */
    uint32_t is_known; /* 1: what is older is known, and told only to who asks for it; its name is
                          LEAK_MILESTONE_KNOWN */
    uint32_t reserved[2];
    char name[LEAK_MILESTONE_NAME]; /* NUL-terminated; of equal names the newest one is meant */
};

/* ---- Looks ---------------------------------------------------------------------------------
 *
 * A look leaves one SNAPSHOT chunk, published in one go by its length: a head, and tables of fixed
 * records, each found by its offset in the payload. It is written by the look's child (or, when no
 * look could be made, by the process itself). The one taken last counts, and may stand
 * before an older one: there are two places, written in turn; at the end of a process
 * EARLY may be followed by LATE, which then stands for both.
 *
 * What the tables do not hold (blocks that came after the look) is "unfreed" for a reader:
 *     live(site) = sum of found.blocks of that site + what came since - what went since. */

/* V(NAME, word) */
#define LEAK_VERDICT_TABLE(V)                                                                      \
    V(LOST, "lost")                                                                                \
    V(INDIRECT, "indirect")                                                                        \
    V(POSSIBLE, "possible")                                                                        \
    V(HIDDEN, "hidden")                                                                            \
    V(REACHABLE, "reachable")

enum leak_verdict {
    LEAK_VERDICT_NONE = 0,
#define V(name, word) LEAK_VERDICT_##name,
    LEAK_VERDICT_TABLE(V)
#undef V
        LEAK_VERDICT_MAX
};

/* How the process was held while its picture was taken. */
enum leak_rung {
    LEAK_RUNG_NONE = 0,  /* no look could be made: "trouble" says why, the tables are empty */
    LEAK_RUNG_UNSTOPPED, /* threads ran on: two pictures, and only what both show is called lost */
    LEAK_RUNG_PARKED,
};

/* X(NAME, words): at what moment */
#define LEAK_OCCASION_TABLE(X)                                                                     \
    X(ASKED, "requested by the program")                                                           \
    X(SIGNAL, "requested by a signal")                                                             \
    X(PERIODIC, "by snapshot_every")                                                               \
    X(EARLY, "at exit")                                                                            \
    X(LATE, "after the last exit handler")                                                         \
    X(ABRUPT, "at an exit without exit handlers")                                                  \
    X(LIMIT, "near the memory limit")                                                              \
    X(CONTROL, "requested by leakctl")

enum leak_occasion {
    LEAK_OCCASION_NONE = 0,
#define X(name, words) LEAK_OCCASION_##name,
    LEAK_OCCASION_TABLE(X)
#undef X
        LEAK_OCCASION_MAX
};

/* X(NAME, words): why there is none, for "no leak check was made: ..." */
#define LEAK_TROUBLE_TABLE(X)                                                                      \
    X(NO_CHILD, "no child process could be made (process limit or memory)")                        \
    X(NO_MAPS, "/proc/self/maps cannot be read")                                                   \
    X(NO_MEMORY, "the leak check needed more memory than is free or look_mem allows")              \
    X(NO_TIME, "the leak check did not finish within exit_budget")                                 \
    X(DIED, "the child process of the leak check died")                                            \
    X(SAMPLED, "with sample= most blocks are unknown")                                             \
    X(FILTERED, "blocks left out by size may hold pointers to others")                             \
    X(UNTRACKED, "blocks that were not tracked for lack of memory may hold pointers to others")

enum leak_trouble {
    LEAK_TROUBLE_NONE = 0,
#define X(name, words) LEAK_TROUBLE_##name,
    LEAK_TROUBLE_TABLE(X)
#undef X
        LEAK_TROUBLE_MAX
};

/* A table of the payload: count records, the first one "at" bytes behind the chunk's head. */
struct leak_table {
    uint32_t at, count;
};

/* What leakctl who asked: size 0 and site 0: the address is in no block. */
struct leak_asked {
    uint64_t address; /* 0: nothing was asked */
    uint64_t block, size;
    uint32_t site, found; /* found: index + 1 */
    uint32_t count, tick;
    uint16_t thread, reserved[3];
};

struct leak_snapshot {
    uint32_t head_size; /* sizeof(struct leak_snapshot) */
    uint8_t rung, occasion, trouble;
    uint8_t reserved;
    uint64_t when_ns;
    uint32_t tick;
    uint32_t sites;    /* header.sites then: ids above are newer than the look */
    uint64_t pause_ns; /* from the first thread parked to the last one released */
    uint64_t check_ns; /* the child's work */
    uint32_t threads_parked, threads_missed; /* besides the one that took the look */
    uint32_t skipped;           /* periodic looks left out so far because of pause_budget */
    uint32_t retained_unknown;  /* 1: no memory for it, "retained" of reachable blocks is 0 */
    struct leak_table found;    /* struct leak_found, in no order */
    struct leak_table roots;    /* struct leak_held: the roots that keep most, in no order */
    struct leak_table steps;    /* struct leak_step: paths */
    struct leak_table samples;  /* struct leak_sample */
    struct leak_table threads;  /* struct leak_seen_thread: the threads there were */
    struct leak_table pcs;      /* uint64_t: their stacks, innermost first */
    struct leak_table modules;  /* struct leak_module, packed: "count" is bytes. Objects whose data
                                  roots lie in; loaded and unloaded are 0 */
    struct leak_table contents; /* uint8_t: first bytes of the samples (option content=) */
    struct leak_table orphans;  /* struct leak_orphan, in no order */
    struct leak_table ages;     /* struct leak_age, in no order */
    struct leak_table pointers; /* struct leak_pointer: WHO's answer */
    struct leak_asked asked;    /* WHO's address and the block it is in */
    uint32_t milestone;         /* the look's own, 0: it is none */
    uint32_t
        apart; /* LEAK_PAGEs of private memory that the program had from the kernel: of no file,
                       no stack, and where no block that is known lies */
    struct leak_table parts; /* struct leak_part, in no order */
};

/* So many blocks of one line came at this milestone or later, and before the next one. What is in no
 * record is older than all of them. */
struct leak_age {
    uint32_t found;     /* index in "found" */
    uint32_t milestone; /* its number */
    uint64_t blocks, bytes;
};

#define LEAK_POINTERS 1024 /* at most: as many may stand for more */

/* A word that holds a pointer into the block that was asked about. */
struct leak_pointer {
    uint64_t address;     /* of the word */
    uint64_t offset;      /* of where it points to, from that block's start */
    uint64_t block, size; /* the block that the word is in, at this offset … */
    uint32_t site;        /* … and its site; 0 = the word is in a root */
    uint32_t root;        /* index + 1 in "roots", 0 = in a block, or not told */
};

/* Blocks of one site that live, and were pointed at by blocks of another one when these were freed.
 * Not every free is looked at, and of the blocks that it was seen of only the last few are
 * remembered. */
struct leak_orphan {
    uint32_t site;
    uint32_t holder;  /* site of the freed blocks */
    uint32_t node;    /* of the stack that freed them, or a root */
    uint32_t blocks;  /* that are lost or indirect, of those that are remembered; may be 0 */
    uint64_t address; /* of one that lives */
};

enum leak_found_flag {
    LEAK_FOUND_CYCLE =
        1, /* these blocks point at each other in a ring; "blocks" counts one leader of
                               each ring, the others are INDIRECT under it */
    LEAK_FOUND_DROPPED =
        2, /* REACHABLE: when the exit code began something pointed here, at its end
                               nothing did */
    LEAK_FOUND_IGNORED = 4, /* REACHABLE: the program said so */
    LEAK_FOUND_SHARED = 8,  /* INDIRECT: under more than one record; "owner" is one of them */
    LEAK_FOUND_TAGGED =
        16, /* POSSIBLE: by a pointer to one of the first 15 bytes that is not aligned:
                               its low bits may be a tag */
};

/* Blocks of one site with one verdict, flags and owner. */
struct leak_found {
    uint32_t site;
    uint8_t verdict; /* enum leak_verdict */
    uint8_t flags;   /* enum leak_found_flag */
    uint16_t reserved;
    uint32_t owner;       /* INDIRECT: index + 1 in "found" of the lost record it hangs under */
    uint32_t first, last; /* ticks of the oldest and the newest block */
    uint32_t root; /* REACHABLE: index + 1 in "roots" of where the path begins, 0 = not told */
    struct {
        uint32_t first,
            count; /* indices in "steps": how the largest block is reached; the last step
                                  reaches the block itself */
    } path;
    struct {
        uint32_t first, count; /* indices in "samples": its largest blocks */
    } sample;
    uint64_t blocks, bytes;
    uint64_t retained_blocks, retained_bytes; /* would go with these blocks, them included */
};

/* X(NAME, word) */
#define LEAK_ROOT_CLASS_TABLE(X)                                                                   \
    X(GLOBALS, "globals")                                                                          \
    X(STACKS, "stacks")                                                                            \
    X(REGISTERS, "registers")                                                                      \
    X(TLS, "tls")                                                                                  \
    X(USER, "user")                                                                                \
    X(ANON, "anon")

enum leak_root_class {
    LEAK_ROOT_CLASS_NONE = 0,
#define X(name, word) LEAK_ROOT_CLASS_##name,
    LEAK_ROOT_CLASS_TABLE(X)
#undef X
        LEAK_ROOT_CLASS_MAX
};

/* A word outside the heap that points into it. */
struct leak_held {
    uint64_t address;     /* of the word; REGISTERS: 0 */
    uint64_t start, size; /* of what it lies in: data of a module, stack, mapping, user's region */
    uint64_t pc;  /* STACKS: an address in the function whose frame the word is in, 0 = unknown */
    uint64_t cfa; /* STACKS: and that frame's canonical frame address */
    uint32_t thread;    /* STACKS, REGISTERS, TLS: serial, 0 = a thread that never allocated */
    uint8_t root_class; /* enum leak_root_class */
    uint8_t reserved;
    uint16_t key;           /* TLS: the word is the value of pthread key key - 1 */
    int64_t tls_offset;     /* TLS: of the word from the thread pointer */
    uint64_t blocks, bytes; /* that are reached from here on the shortest way */
};

/* Of what is reached from a root on the shortest way: the blocks of one site. Of few roots with very
 * many sites some are left out. */
struct leak_part {
    uint32_t root; /* index + 1 in "roots" */
    uint32_t site;
    uint64_t blocks, bytes;
};

/* "the word at +offset of the block before (of the root word: 0) points to a block of size bytes
 * from this site, at +into". Site 0: some steps are left out here. */
struct leak_step {
    uint64_t offset;
    uint64_t size;
    uint32_t site;
    uint32_t into;
};

struct leak_sample {
    uint64_t address, size;
    uint32_t count;  /* n-th allocation of its thread */
    uint16_t thread; /* low bits of its serial */
    uint16_t reserved;
    uint32_t tick;
    struct {
        uint32_t first, count; /* indices in "contents": its first bytes */
    } content;
    uint32_t unused;
};

struct leak_seen_thread {
    uint32_t serial; /* 0 = a thread that never allocated */
    int32_t tid;
    uint8_t parked, taker; /* taker: it took the look itself */
    uint8_t reserved[6];
    struct {
        uint32_t first, count; /* indices in "pcs" */
    } stack;
    char name[LEAK_THREAD_NAME];
};

/* ---- Crashes -------------------------------------------------------------------------------
 *
 * Written by the thread that dies, on a stack of libleak's, without a lock and without memory of
 * anybody's. One a process: a later one stands in the place of the one before. Published in steps by
 * the chunk's length: head first, then frames and what is near, modules last. */

enum leak_crash_state {
    LEAK_CRASH_NONE = 0, /* being written */
    LEAK_CRASH_HANDED,   /* SIGABRT went to a handler of the program's: a crash if that is how the
                            process then ended */
    LEAK_CRASH_FATAL,    /* the default action followed */
};

enum leak_crash_flag {
    LEAK_CRASH_OVERFLOW = 1,     /* the stack was full */
    LEAK_CRASH_HAS_ADDRESS = 2,  /* "address" is what could not be accessed */
    LEAK_CRASH_IN_LIBLEAK = 4,   /* the thread was in a hook of libleak's … */
    LEAK_CRASH_IN_ALLOCATOR = 8, /* … or, from there, in the program's allocator */
    LEAK_CRASH_LOOK = 16,        /* a look at the heap was under way */
    LEAK_CRASH_BLOCKS_BUSY =
        32,                 /* some part of the table of blocks was just being changed: nothing is
                                    said of those */
    LEAK_CRASH_CALLED = 64, /* pc is no code: the frames begin with where it was called */
};

enum leak_access {
    LEAK_ACCESS_UNKNOWN = 0,
    LEAK_ACCESS_READ,
    LEAK_ACCESS_WRITE,
    LEAK_ACCESS_EXECUTE
};

/* A live block near an address: the address is in it when address - block < size, else that far
 * behind its end. Site 0: there is none. */
struct leak_crash_near {
    uint64_t address;
    uint64_t block, size;
    uint32_t site, count; /* count-th allocation of its thread */
    uint32_t tick;
    uint16_t thread; /* low bits of its serial */
    uint8_t kind, reserved;
};

enum leak_mapping_flag {
    LEAK_MAPPING_READ = 1,
    LEAK_MAPPING_WRITE = 2,
    LEAK_MAPPING_EXECUTE = 4,
    LEAK_MAPPING_SHARED = 8,
    LEAK_MAPPING_FILE = 16
};

#define LEAK_CRASH_PATH 128
struct leak_crash_mapping {
    uint64_t start, end;        /* end 0: there is none */
    uint32_t flags;             /* enum leak_mapping_flag */
    char path[LEAK_CRASH_PATH]; /* NUL-terminated, its end when it is longer */
};

/* One frame; or the last one of "period" frames that come "times" times more. */
struct leak_crash_frame {
    uint64_t pc; /* as of a node: a name is looked up at pc - 1 */
    uint32_t period, times;
};

#define LEAK_CRASH_REGISTERS 40
#define LEAK_CRASH_FRAMES 192
#define LEAK_CRASH_OUTER 32
struct leak_crash {
    uint32_t head_size;   /* sizeof(struct leak_crash) */
    uint32_t state;       /* publish: enum leak_crash_state */
    int32_t signal, code; /* si_signo, si_code */
    int32_t sender;       /* pid, of a signal that was sent */
    uint32_t sender_uid;
    uint32_t flags;  /* enum leak_crash_flag */
    uint32_t access; /* enum leak_access */
    uint64_t address, pc, sp;
    uint64_t when_ns;
    uint32_t tick;
    uint32_t thread; /* serial, 0 = a thread that never allocated */
    int32_t tid;
    uint32_t register_count;
    uint64_t registers[LEAK_CRASH_REGISTERS]; /* in the kernel's order; pc is not among them */
    char name[LEAK_THREAD_NAME];              /* of the thread */

    struct leak_crash_mapping at, below, above;            /* that address is in; its neighbours */
    struct leak_crash_mapping stack;                       /* that sp is in, or just below of */
    struct leak_crash_near near[1 + LEAK_CRASH_REGISTERS]; /* of address; of each register */

    uint64_t depth;  /* frames there were */
    uint32_t ending; /* enum leak_root */
    uint32_t frame_count, outer_count;
    uint32_t reserved;
    struct leak_crash_frame frames[LEAK_CRASH_FRAMES]; /* innermost first */
    uint64_t outer[LEAK_CRASH_OUTER]; /* the outermost ones, where "frames" were not enough */
    uint64_t left_out;                /* frames between the two */
    struct leak_table modules;        /* struct leak_module, packed: "count" is bytes; loaded and
                                         unloaded are 0 */
};

/* ---- Layout ---------------------------------------------------------------------------------- */

/* Readers of other versions rely on these sizes. A change that is meant changes the version of the
 * file (LEAK_STORE_VERSION) and docs/STORE.md, too. */
#ifdef __cplusplus
#define LEAK_ASSERT static_assert
#else
#define LEAK_ASSERT _Static_assert
#endif
#define LEAK_LAYOUT(name, size)                                                                    \
    LEAK_ASSERT(sizeof(struct leak_##name) == size,                                                \
                "leak_store.h: the layout of " #name " in recording files has changed");
LEAK_LAYOUT(request, 64)
LEAK_LAYOUT(header, 400)
LEAK_LAYOUT(chunk, 64)
LEAK_LAYOUT(own, 24)
LEAK_LAYOUT(process, 16)
LEAK_LAYOUT(module, 96)
LEAK_LAYOUT(thread, 64)
LEAK_LAYOUT(node, 16)
LEAK_LAYOUT(counts, 32)
LEAK_LAYOUT(tag, 64)
LEAK_LAYOUT(tags, 32704)
LEAK_LAYOUT(site, 64)
LEAK_LAYOUT(freed, 24)
LEAK_LAYOUT(recent_free, 32)
LEAK_LAYOUT(recent, 4032)
LEAK_LAYOUT(variance, 32)
LEAK_LAYOUT(slot, 40)
LEAK_LAYOUT(slots, 64)
LEAK_LAYOUT(event, 128)
LEAK_LAYOUT(events, 32640)
LEAK_LAYOUT(pool, 64)
LEAK_LAYOUT(mark, 12)
LEAK_LAYOUT(resource, 160)
LEAK_LAYOUT(resource_totals, 160)
LEAK_LAYOUT(point, 24)
LEAK_LAYOUT(column, 32)
LEAK_LAYOUT(row_entry, 32)
LEAK_LAYOUT(row, 4048)
LEAK_LAYOUT(peak_site, 24)
LEAK_LAYOUT(peak, 3008)
LEAK_LAYOUT(history, 16256)
LEAK_LAYOUT(milestone, 64)
LEAK_LAYOUT(table, 8)
LEAK_LAYOUT(asked, 48)
LEAK_LAYOUT(snapshot, 208)
LEAK_LAYOUT(age, 24)
LEAK_LAYOUT(pointer, 40)
LEAK_LAYOUT(orphan, 24)
LEAK_LAYOUT(found, 72)
LEAK_LAYOUT(held, 72)
LEAK_LAYOUT(part, 24)
LEAK_LAYOUT(step, 24)
LEAK_LAYOUT(sample, 40)
LEAK_LAYOUT(seen_thread, 40)
LEAK_LAYOUT(crash_near, 40)
LEAK_LAYOUT(crash_mapping, 152)
LEAK_LAYOUT(crash_frame, 16)
LEAK_LAYOUT(crash, 6032)
#undef LEAK_LAYOUT

/* Where a table grows, what is counted by it must grow, too. */
LEAK_ASSERT(
    LEAK_RESOURCE_MAX <= sizeof(((struct leak_resource_totals *)0)->opened) / 8,
    "leak_store.h: leak_resource_totals.opened has no counter for the new kind of resource");
LEAK_ASSERT(LEAK_KIND_MAX - 1 <= 0xff && LEAK_SORT_MAX - 1 <= 0xff && LEAK_RESOURCE_MAX - 1 <= 0xff,
            "leak_store.h: kinds, sorts and types are written as one byte");
LEAK_ASSERT(LEAK_VERDICT_MAX - 1 <= 0xff && LEAK_ROOT_CLASS_MAX - 1 <= 0xff,
            "leak_store.h: verdicts and classes of roots are written as one byte");

#endif
