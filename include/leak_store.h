/* leak_store.h - the layout of a recording file (.leak), which each process under libleak writes.
 *
 * A recording is a sparse file of pages. Page 0 is the header; chunks follow it, each a whole
 * number of pages with the same 64-byte head. The process under libleak is the only writer of its
 * recording. A reader may read the file at any instant, also after SIGKILL, and must validate every
 * number. This header defines data only, no functions. docs/STORE.md explains the format with a
 * hexdump.
 *
 * Publication: a writer reserves space by adding to header.used, fills it, and publishes it last
 * with a release store: chunk.magic, then one word of each record, which is marked "publish:"
 * below. Data that is not published is zero, and readers skip it.
 *
 * The equation:  live(site) = folded(site) + sum over threads of slots(site),
 *                where each term is allocs - frees (and bytes - freed_bytes). A slot has the counts of one
 *                thread for one site; now and then they are added to the site and cleared (a fold).
 */
#ifndef LEAK_STORE_H
#define LEAK_STORE_H

#include <stdint.h>

#define LEAK_STORE_MAGIC 0x31304b41454c4c42ull /* "BLLEAK01" read as little endian */
#define LEAK_STORE_VERSION 3
/* Readers read this version and all later ones up to LEAK_STORE_VERSION. */
#define LEAK_STORE_OLDEST 1
#define LEAK_PAGE 4096ull
#define LEAK_CHUNK_MAGIC 0x4b4e4843u /* "CHNK" */
#define LEAK_BUILD_ID_MAX 32
#define LEAK_THREAD_NAME 16
#define LEAK_SITE_THREADS 3

/* Most times in a recording are values of the word header.epoch, which counts ticks of 1/8 second:
 * to read it costs an allocation less than to read a clock. */
#define LEAK_TICKS_PER_SECOND 8

/* Names of times in this file: "ns" is CLOCK_REALTIME in nanoseconds; "tick" is a value of
 * header.epoch, which counts from header.started_ns. */

/* ---- Processes that libleak starts for itself ------------------------------------------------ */

/* Set in the environment of the programs that libleak starts for its own work (leakreport,
 * leakwatch, gdb ...); the programs that these start inherit it. libleak.so does nothing in such a
 * process, however it was loaded: otherwise, with /etc/ld.so.preload and report=exit, each
 * leakreport would start another one. leakrun removes the variable from the environment of the
 * user's program. */
#define LEAK_HELPER_VARIABLE "LIBLEAK_HELPER"
#define LEAK_HELPER_ENTRY LEAK_HELPER_VARIABLE "=1"

/* ---- The process and its end ----------------------------------------------------------- */

enum leak_end {
    LEAK_END_NONE = 0,   /* not observed: the process runs, or its end was not recorded */
    LEAK_END_EXIT = 1,   /* end_value is the exit status */
    LEAK_END_SIGNAL = 2, /* end_value is the signal number */
    LEAK_END_EXEC = 3,   /* exec was called and did not return */
};

/* The counters of what could not be tracked, which reports show: X(NAME, words for the report) */
#define LEAK_UNTRACKED_TABLE(X)                                                                    \
    X(NESTED, "allocations made while libleak itself was running in the same thread")              \
    X(BOOT, "allocations made before libleak was ready")                                           \
    X(FILTERED, "allocations left out by min_size, max_size or start=off")                         \
    X(NO_MEMORY, "allocations not tracked: the limit max_memory was reached or memory ran out")    \
    X(UNRECORDED,                                                                                  \
      "fork children that could make no recording file: they changed user or root, are in a "      \
      "sandbox, or reached a limit")                                                               \
    X(DEEPBIND, "libraries loaded with RTLD_DEEPBIND, whose calls may bypass libleak")             \
    X(OWN_ALLOCATOR, "programs that define malloc themselves: calls from the program itself")      \
    X(ABANDONED, "calls left by a longjmp out of a signal handler while libleak was running")      \
    X(PROGRAMS,                                                                                    \
      "programs started without libleak: static, setuid, 32-bit, built on musl or "                \
      "with a sanitizer, by a user or in a sandbox that may not read it or write recordings, or "  \
      "with an environment of their own")

enum leak_untracked {
#define X(name, words) LEAK_UNTRACKED_##name,
    LEAK_UNTRACKED_TABLE(X)
#undef X
        LEAK_UNTRACKED_MAX
};

enum leak_header_flag {
    LEAK_FLAG_FORKED = 1,    /* a fork child: the sites 1..inherited_sites came from its parent */
    LEAK_FLAG_NO_STACKS = 2, /* the option site_stacks=off is set */
    /* An option that leaves out blocks is set (min_size, max_size ...): a free of an unknown block
     * is no error. */
    LEAK_FLAG_FILTERED = 4,
    LEAK_FLAG_FULL = 8, /* the recording file was full: the newest sites are missing */
    /* The option sample= is set, and the process has allocated: it was tracked, even if no block
     * was sampled and there is no site. */
    LEAK_FLAG_ASKED = 16,
    LEAK_FLAG_CRASH_ONLY = 32,    /* crash=only: blocks are not tracked at all */
    LEAK_FLAG_OUT_OF_MEMORY = 64, /* set by leakwatch: the OOM killer killed the process */
    LEAK_FLAG_LATE = 256,         /* libleak was loaded late: blocks from before are unknown */
    /* Recording was disabled at the start (start=off, start_at, start_after) and was never
     * enabled. */
    LEAK_FLAG_NEVER_ENABLED = 128,
    LEAK_FLAG_DETACHED = 512, /* leakctl detach: nothing was recorded from then on */
    LEAK_FLAG_EXIT_LOOK =
        2048, /* exit_look was on at the start, so a report explains a missing leak check */
    /* The process contained a Python whose frames could not be read: call stacks have only C
     * frames. */
    LEAK_FLAG_PYTHON_UNREAD = 4096,
    /* Python carves small objects from pools of its own: they are not in the recording as
     * blocks. */
    LEAK_FLAG_PYTHON_POOLS = 8192,
};

/* ---- Requests ---------------------------------------------------------------------------
 *
 * leakctl sends requests to a running process through header.request, the mailbox. leakctl claims the
 * mailbox, fills it, stores ASKED and sends the signal that libleak reserves (snapshot_signal). The
 * thread that gets the signal takes the request as soon as it is outside of the runtime, executes
 * it and stores the answer. leakctl reads the answer and frees the mailbox. leakctl withdraws a
 * request that was not taken (ASKED to CLAIMED, by compare and swap, like ASKED to TAKEN), and
 * clears a request whose sender is dead. */

/* The requests: X(NAME, word of the command of leakctl) */
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
    LEAK_REQUEST_FREE = 0, /* any leakctl may claim the mailbox */
    LEAK_REQUEST_CLAIMED,  /* a leakctl fills the request, or reads the answer */
    LEAK_REQUEST_ASKED,    /* leakctl has filled the request */
    LEAK_REQUEST_TAKEN,    /* the process has taken the request */
    LEAK_REQUEST_ANSWERED, /* the process has stored the answer */
};

/* The answers to a request: A(NAME, words that leakctl prints) */
#define LEAK_ANSWER_TABLE(A)                                                                       \
    A(DONE, "done")                                                                                \
    A(NO_LOOK, "no leak check was possible; the report gives the reason")                          \
    A(UNKNOWN, "the libleak in the process does not know this command")                            \
    A(NO_NAME, "a mark needs a name")                                                              \
    A(NO_ROOM, "the recording file has no space for another mark")

enum leak_answer {
    LEAK_ANSWER_NONE = 0,
#define A(name, words) LEAK_ANSWER_##name,
    LEAK_ANSWER_TABLE(A)
#undef A
        LEAK_ANSWER_MAX
};

/* The value that the signal of a request carries (sigqueue). A signal without this value requests a
 * leak check. */
#define LEAK_REQUEST_VALUE 0x6c72

#define LEAK_MILESTONE_NAME 32
struct leak_request {
    uint32_t state;       /* publish: a value of enum leak_request_state */
    uint32_t verb;        /* a value of enum leak_verb */
    uint32_t answer;      /* a value of enum leak_answer */
    int32_t asker;        /* pid of the process that sent the request */
    uint64_t asker_start; /* start time of the process that sent the request */
    /* In a request WHO: the address in question. In a request SNAPSHOT: LEAK_REQUEST_GRAPH or 0. In
     * an answer: number of the new milestone; 0 = none. */
    uint64_t argument;
    char name[LEAK_MILESTONE_NAME]; /* name of the mark for MARK, NUL-terminated */
};

/* The flag of SNAPSHOT that requests a graph file, too, and where in page 0 its struct
 * leak_request_file is. If no graph file is written, the process stores the reason there before the
 * leak check of that milestone appears. */
#define LEAK_REQUEST_GRAPH 1
#define LEAK_REQUEST_FILE_AT 2048
struct leak_request_file {
    /* Number of the milestone of the leak check to which "error" belongs; 0: no such leak check has
     * ended. */
    uint32_t milestone;
    int32_t error; /* why the graph file was not written, -errno; 0: it was written */
    /* Path of the graph file, absolute, NUL-terminated. */
    char path[LEAK_PAGE - LEAK_REQUEST_FILE_AT - 8];
};

/* The header, at the start of page 0. Its fields up to "request" are the same in every version. A
 * reader refuses newer versions with a message that names them, and reads the older ones: in
 * version 1 the header ends before restricted_ns; in versions 1 and 2 struct leak_resource_totals
 * has half as many counters. */
struct leak_header {
    uint64_t magic; /* publish: LEAK_STORE_MAGIC */
    uint32_t version;
    uint32_t header_size; /* size in bytes of this struct in the file */
    uint32_t machine;     /* e_machine of the ELF header of the program */
    uint32_t flags;       /* flags of enum leak_header_flag; changed by atomic or */
    uint64_t file_size;   /* size of the sparse file, set when it is made and never changed */
    /* Number of bytes reserved so far, including the header page; changed by atomic add. */
    uint64_t used;

    int32_t pid, ppid; /* ppid of a fork child: pid of the process whose recording it inherited */
    /* Start time of the process, field 22 of /proc/PID/stat; pid and start_time together identify
     * the process. */
    uint64_t start_time;
    uint64_t started_ns;
    uint64_t ended_ns; /* 0 = end not observed */
    uint32_t end_how;  /* a value of enum leak_end */
    int32_t end_value;
    /* In the file of a fork child: its sites 1..N count only blocks that were inherited from the
     * parent. */
    uint64_t inherited_sites;

    /* Current tick, counted from started_ns; any thread that sees that time has passed advances
     * it. */
    uint32_t epoch;
    uint32_t exec_at; /* tick of a call of exec that has not returned; 0 = there is none */
    /* A number that changes whenever counts move from a slot to a site (fold): a reader of a live
     * process reads it before and after the counts, and tries again if it has changed. */
    uint64_t folds;
    /* Bytes of live blocks; threads add their changes in batches, so it differs from the sum over
     * sites by up to 64 KiB for each thread. */
    uint64_t live_bytes;
    uint64_t peak_bytes; /* the maximum of live_bytes */
    uint64_t peak_ns;
    uint64_t unknown_frees;
    uint64_t nodes;   /* number of node ids reserved so far; node ids are 1..nodes */
    uint64_t sites;   /* number of site ids reserved so far; site ids are 1..sites */
    uint64_t threads; /* number of threads so far, ended ones included */
    uint64_t modules;
    uint64_t untracked[LEAK_UNTRACKED_MAX];
    /* With unwind_check=N: number of call stacks that were compared with those of another unwinder;
     * of those that differ; of those that end early and are marked as truncated, but continue in
     * the other unwinder */
    uint64_t unwind_checks, unwind_mismatches, unwind_stops;
    char host[64]; /* name of the host, NUL-terminated */
    /* The option sample=: one byte in this many is sampled, and all counts of blocks and bytes are
     * estimates; 0 = every block is tracked. */
    uint64_t sample;
    /* Requests of leakctl; this is the only field that leakctl writes. */
    struct leak_request request;
    /* Time at which a seccomp filter first forbade some system calls; 0 = never. */
    uint64_t restricted_ns;
};

/* ---- Chunks ------------------------------------------------------------------------------ */

enum leak_chunk_type {
    LEAK_CHUNK_PROCESS = 1, /* one struct leak_process, with program and arguments */
    LEAK_CHUNK_OPTIONS,  /* text: "name=value (source)\n" for each option that is not the default */
    LEAK_CHUNK_MODULES,  /* struct leak_module, packed, 8-byte aligned */
    LEAK_CHUNK_THREADS,  /* array of struct leak_thread */
    LEAK_CHUNK_NODES,    /* array of struct leak_node; chunk.first is the id of the first one */
    LEAK_CHUNK_SITES,    /* array of struct leak_site; chunk.first is the id of the first one */
    LEAK_CHUNK_SLOTS,    /* one struct leak_slots: the counters of one thread */
    LEAK_CHUNK_HISTORY,  /* one struct leak_history: the heap over time, and its peak */
    LEAK_CHUNK_EVENTS,   /* one struct leak_events: wrong frees */
    LEAK_CHUNK_SNAPSHOT, /* one struct leak_snapshot and its tables: the result of a leak check */
    LEAK_CHUNK_FREED,  /* array of struct leak_freed; chunk.first is the number of the first one */
    LEAK_CHUNK_RECENT, /* one struct leak_recent: the last frees of one thread */
    LEAK_CHUNK_VARIANCES, /* array of struct leak_variance; the first one is for site chunk.first */
    LEAK_CHUNK_SUPPRESSIONS, /* text: origin, NUL, suppressions in the syntax of LeakSanitizer or
                                Valgrind */
    LEAK_CHUNK_CRASH,        /* one struct leak_crash and its modules: a fatal signal */
    LEAK_CHUNK_RESOURCES,  /* array of struct leak_resource, unordered; one entry has the totals */
    LEAK_CHUNK_ROWS,       /* LEAK_ROWS_A_CHUNK struct leak_row: site counters over time */
    LEAK_CHUNK_MILESTONES, /* array of struct leak_milestone, unordered */
    LEAK_CHUNK_OWN,        /* one struct leak_own: memory that the runtime has used */
    LEAK_CHUNK_TAGS,       /* one struct leak_tags: tags of the program for its blocks */
    LEAK_CHUNK_POOLS,      /* array of struct leak_pool: names of pools in wrong frees */
    LEAK_CHUNK_FOLLOWED,   /* array of struct leak_followed: blocks that follow_blocks= names */
    LEAK_CHUNK_TEMPORARY,  /* array of struct leak_temporary; first one: site chunk.first */
    LEAK_CHUNK_CODES,    /* struct leak_code, packed, 8-byte aligned: Python code in call stacks */
    LEAK_CHUNK_COUNTERS, /* one struct leak_counters: reference counts in a followed block */
    LEAK_CHUNK_TRAIL,    /* one struct leak_trail, if follow_blocks= asks for the way of a block */
    LEAK_CHUNK_FORKS,    /* one struct leak_forks, in the file of a fork child */
};
/* Readers skip chunk types they do not know. */

struct leak_chunk {
    uint32_t magic; /* publish: LEAK_CHUNK_MAGIC, written after the rest of this struct */
    uint32_t type;
    /* Offset of this chunk in the file, so that no other page is mistaken for a chunk. */
    uint64_t offset;
    uint64_t size;  /* size of the chunk with this struct, in bytes, a multiple of LEAK_PAGE */
    uint64_t first; /* id of the first record, for arrays that continue in several chunks */
    /* publish: number of payload bytes that are valid so far, in packed chunks (PROCESS, OPTIONS,
     * MODULES, SNAPSHOT, SUPPRESSIONS, CRASH, CODES, FORKS). In arrays each record is published on its
     * own; there it is the capacity in bytes (the pages may hold a few more records), 0 = the whole
     * payload. */
    uint64_t length;
    uint64_t reserved[3];
};
/* Largest number of bytes of the suppressions in one chunk, without their origin. */
#define LEAK_SUPPRESSIONS_MAX (64u << 10)
/* A reader that finds no valid chunk at an offset looks one page further. */

/* ---- Records ----------------------------------------------------------------------------- */

/* The memory that the runtime has used, written at exit. If used is not mapped + charged, the
 * runtime has memory that no part of it accounts for. */
struct leak_own {
    uint64_t used;    /* bytes that were counted against max_memory */
    uint64_t mapped;  /* sum of the sizes of the runtime's mappings (arena.h) */
    uint64_t charged; /* bytes of memory outside of these mappings: the recording file */
};

struct leak_process { /* followed by the strings exe, cwd and argv, each with a NUL */
    uint32_t exe_length, cwd_length; /* lengths without the NUL */
    uint32_t argc;                   /* number of strings recorded; a very long argv is truncated */
    uint32_t argv_length;            /* bytes of all argv strings, including their NULs */
};

/* A call of fork: the thread that made it, and how many it had made then, this one included. */
struct leak_fork {
    uint32_t thread; /* number of the thread; 0 = unknown */
    uint32_t count;
};

/* The forks that led from the start of the program to this process, the earliest first. In another
 * run that takes the same path they identify the same process. */
#define LEAK_FORKS_MOST 8
struct leak_forks {
    uint32_t depth; /* number of forks; those behind the first LEAK_FORKS_MOST are left out */
    uint32_t reserved;
    struct leak_fork forks[LEAK_FORKS_MOST];
};

/* One generation of one mapped object: the time from its loading to its unloading. pc belongs to it
 * if start <= pc < end; its address in the ELF file is pc - bias. */
struct leak_module {
    uint32_t length; /* length of this record, including the path, a multiple of 8 */
    uint32_t build_id_length;
    uint64_t start, end, bias;
    uint32_t loaded; /* serial number of the loader event by which the module was first seen */
    /* Serial number of the loader event by which the module was seen unloaded; 0 = still loaded. */
    uint32_t unloaded;
    uint64_t loaded_ns, unloaded_ns;
    uint8_t build_id[LEAK_BUILD_ID_MAX];
    uint32_t path_length; /* length without the NUL */
    char path[];          /* path of the object, NUL-terminated, padded with NULs */
} __attribute__((aligned(8)));

struct leak_thread {
    uint32_t serial; /* publish: number of the thread: 1, 2, 3 ...; 1 (T1) is the main thread */
    int32_t tid;
    uint32_t started, ended; /* ticks of start and end, + 1; ended 0 = the thread still runs */
    /* Number of allocations of this thread so far: the n of T1#n; with sample=, number of
     * samples. */
    uint64_t allocations;
    /* Number of call stacks that were unwound; all others came from the stack cache. */
    uint64_t walks;
    /* Frames that were unwound, and frames that were only verified to equal those of the thread's
     * previous stack. */
    uint64_t frames_walked, frames_shared;
    char name[LEAK_THREAD_NAME];
};

/* Roots of the calling-context tree. Ids of nodes below LEAK_NODE_FIRST are roots: they give the
 * reason why a call stack ends, and have no struct leak_node. A node whose pc is below
 * LEAK_KIND_PCS is no frame, and readers skip it: older writers made one for each site. The sort of
 * a stack, which says what the stack was captured for, is such a low number, too: kind + (tag <<
 * LEAK_TAG_SHIFT), or LEAK_PC_FREE. */
enum leak_root {
    LEAK_ROOT_NONE = 0,
    LEAK_ROOT_COMPLETE = 1, /* the stack reaches the outermost frame */
    LEAK_ROOT_DEPTH = 2,    /* the stack was truncated at the option depth= */
    LEAK_ROOT_BROKEN = 3,   /* the next frame was not plausible */
    LEAK_ROOT_NO_RULE = 4,  /* a frame had no usable unwind information: JIT code, assembly */
    /* With site_stacks=off. A node below this root is no frame, but stands for blocks from before
     * libleak was loaded: its pc is LEAK_OLDER_PC + the size of these blocks; for sizes above
     * LEAK_OLDER_EXACT, + the largest size of their class. */
    LEAK_ROOT_NO_STACKS = 5,
    /* Allocated while recording was disabled (start=off, libleak_disable, leakctl disable): there
     * is no stack, and the blocks are never leaks. */
    LEAK_ROOT_DISABLED = 6,
    LEAK_NODE_FIRST = 8
};
#define LEAK_KIND_PCS 4096
#define LEAK_PC_FREE 4095 /* sort of the call stack of a free */
#define LEAK_OLDER_PC LEAK_KIND_PCS
#define LEAK_OLDER_EXACT 1032
#define LEAK_TAG_SHIFT 3 /* a sort is kind + (tag << LEAK_TAG_SHIFT); kinds are 1 to 8 */

/* The bits of leak_node.pc and leak_node.parent above these numbers of bits are private to the
 * writer (preload/contexts/context_tree.c). */
#define LEAK_PC_BITS 48
#define LEAK_PC_MOST ((1ull << LEAK_PC_BITS) - 1)
#define LEAK_NODE_BITS 26
#define LEAK_NODE_MOST ((1u << LEAK_NODE_BITS) - 1)

struct leak_node {
    /* publish: the return address, in the low LEAK_PC_BITS bits; the frame's function is that of pc
     * - 1. */
    uint64_t pc;
    uint32_t parent; /* node of the caller, or an enum leak_root; in the low LEAK_NODE_BITS bits */
    /* For a frame: serial number of the last unload of a module around pc before this node was
     * made; the frame's module is the first generation around pc with loaded > number. With
     * LEAK_NODE_CODE: a Python frame, see struct leak_code. */
    uint32_t number;
};

/* A Python frame: the other bits of leak_node.number are the id of its code, 0 = not recorded;
 * its pc is LEAK_CODE_PC + the offset, in bytes, of the instruction in that code that was being
 * executed. The node stands on the inner side of the interpreter's C frame that executes the
 * code. */
#define LEAK_NODE_CODE 0x80000000u
#define LEAK_CODE_PC LEAK_KIND_PCS

/* Encodings of line numbers in Python code: co_lnotab of 3.9, and co_linetable of later versions.
 * X(NAME) */
#define LEAK_LINE_TABLE_TABLE(X)                                                                   \
    X(NONE)                                                                                        \
    X(3_9)                                                                                         \
    X(3_10)                                                                                        \
    X(3_11)

enum leak_line_table {
#define X(name) LEAK_LINE_TABLE_##name,
    LEAK_LINE_TABLE_TABLE(X)
#undef X
        LEAK_LINE_TABLE_MAX
};

/* The code of a Python function, class body or module, recorded when it is first found in a
 * call stack. Two codes with equal contents have one record. */
#define LEAK_CODE_FILE 4096 /* largest number of bytes of a file name */
#define LEAK_CODE_NAME 1024
#define LEAK_CODE_LINES 65536
struct leak_code {
    uint32_t length; /* length of this record, a multiple of 8 */
    uint32_t id;     /* 1, 2, 3 ... */
    uint32_t first_line;
    /* A value of enum leak_line_table; NONE: the line table is too long, and lines are unknown. */
    uint32_t line_table;
    uint32_t file_length; /* lengths of the three parts of "text" */
    uint32_t name_length;
    uint32_t lines_length;
    uint32_t reserved;
    /* File name, NUL, qualified name, NUL, line table; both names in UTF-8, also after
     * truncation. */
    char text[];
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

/* The kinds of blocks. CUSTOM and POOL are blocks of the program's own allocators, annotated with
 * libleak.h. */
enum leak_kind {
    LEAK_KIND_NONE = 0,
#define X(name, word) LEAK_KIND_##name,
    LEAK_KIND_TABLE(X)
#undef X
        LEAK_KIND_MAX
};

/* The functions that release a block: F(NAME, word) */
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

/* Tags that the program gives to its allocations (libleak_tag_push). Tags are never removed. Only
 * the recording of a program that uses tags has this chunk. */
#define LEAK_TAGS 510
#define LEAK_TAG_NAME 60
struct leak_tag {
    uint32_t length;          /* publish: length of the name, 1 to LEAK_TAG_NAME - 1 */
    char name[LEAK_TAG_NAME]; /* NUL-terminated; a longer name is truncated */
};
struct leak_tags {
    /* Number of times that a tag was pushed whose name did not fit into the table. */
    uint64_t left_out;
    uint64_t reserved[7];
    struct leak_tag tag[LEAK_TAGS]; /* the table with its chunk head fills eight pages */
};

/* The folded counts of an allocation site: one call stack, kind and tag. It has 64 bytes, one cache
 * line, which an ordinary allocation does not write: it counts in a slot of its thread. */
struct leak_site {
    uint32_t
        node;     /* publish: node of the innermost frame of the call stack, or an enum leak_root */
    uint8_t kind; /* a value of enum leak_kind */
    uint8_t more_threads;                /* 1 = more threads allocated here than fit in threads[] */
    uint16_t tag;                        /* index + 1 in leak_tags.tag; 0 = none */
    uint32_t first;                      /* tick of the first allocation */
    uint32_t last;                       /* tick of the last allocation whose count was folded in */
    uint32_t lock;                       /* only the writer of the file uses it */
    uint32_t threads[LEAK_SITE_THREADS]; /* numbers of threads that allocated here, 0 = none */
    struct leak_counts counts;
};

/* The places where the blocks of a site were freed: one record for each pair of allocation site and
 * call stack of the free. With free_stacks=sample and with sample=, "blocks" and "bytes" are
 * estimates. With free_stacks=sample a thread records its first free of a site, then one in ONE_IN,
 * and after MANY frees of that site one in ONE_IN_MANY; each recorded free also counts for the
 * frees that were not recorded since the one before. A thread that has freed blocks of SITES sites
 * records the first free of only one in SITES_ONE_IN further sites, and counts it as SITES_ONE_IN
 * frees. A thread's first free of a site at one place in the program is recorded, too, and counts
 * for one. With sample= each free of a sampled block is recorded, and counts for as many blocks as
 * the sample did. */
#define LEAK_FREED_FIRST 1
#define LEAK_FREED_ONE_IN 64
#define LEAK_FREED_MANY 4096
#define LEAK_FREED_ONE_IN_MANY 512
#define LEAK_FREED_SITES 8192
#define LEAK_FREED_SITES_ONE_IN 8
struct leak_freed {
    uint32_t site; /* publish: the allocation site */
    uint32_t node; /* node of the innermost frame of the free, or an enum leak_root */
    uint64_t blocks, bytes;
};

/* Blocks of a site that the thread that allocated them freed before it had allocated ALLOCATIONS
 * more blocks. They are a part of the frees that leak_freed counts, and are estimates where those
 * are. All fields begin as zero, so no word is published. */
#define LEAK_TEMPORARY_ALLOCATIONS 4
struct leak_temporary {
    uint64_t blocks, bytes;
};

/* A ring buffer of the last frees of one thread: next - 1 is the newest. Only that thread writes,
 * with plain stores; an entry that is being written may be a mixture of the old and the new one. */
#define LEAK_RECENT_UNIT 16
#define LEAK_RECENT 124 /* a ring with its chunk head fills one page */
struct leak_recent_free {
    uint64_t address;
    uint64_t pc; /* return address of the free */
    /* Node of the innermost frame of the free; 0 = the call stack was not recorded, only pc is
     * known. */
    uint32_t node;
    uint32_t site; /* site of the block's allocation */
    uint32_t tick;
    /* High 24 bits: size of the block in units of LEAK_RECENT_UNIT, rounded up (all ones = that
     * size or more); low 8 bits: enum leak_form. */
    uint32_t size_form;
};
struct leak_recent {
    /* Number of the thread that uses this ring; 0 = the thread has ended, its entries remain. */
    uint32_t thread;
    uint32_t last_thread; /* number of the last thread that used this ring */
    uint64_t next; /* number of frees so far; the newest is at index (next - 1) % LEAK_RECENT */
    /* Number of call stacks captured for frees, by all threads that used this ring. */
    uint64_t captures;
    uint64_t reserved[5];
    struct leak_recent_free free[LEAK_RECENT];
};

/* With sample=: how exact the estimated counts of the live blocks of a site are (their variance). A
 * block of s bytes is sampled with probability p = 1 - exp(-(s + 1) / sample) and counted as
 * floor(1/p) blocks or, with probability f = frac(1/p), as one more. It adds v = (1 - p) / p^2 + f
 * (1 - f) to the variance of the blocks, and v s^2 to the variance of the bytes. Each word is a sum
 * over live samples, changed by atomic addition and subtraction modulo 2^64. All fields begin as
 * zero, so no word is published. */
#define LEAK_VARIANCE_BLOCKS 0x1p8 /* leak_variance.blocks is in units of 1/256 */
#define LEAK_VARIANCE_BYTES 0x1p32 /* leak_variance.bytes is in units of sample^2 / 2^32 */
struct leak_variance {
    uint64_t samples; /* number of live samples */
    uint64_t blocks, bytes;
    uint64_t reserved;
};

/* The counters of one thread for one site. A slot is valid if site != 0. Only that thread writes,
 * with plain stores. */
struct leak_slot {
    uint32_t site; /* publish: the site; 0 = the slot is empty */
    uint32_t last; /* tick of the last allocation */
    struct leak_counts counts;
};

/* The slots of one thread. A slot is folded: its counts are added to those of its site, and it is
 * cleared. The steps: (1) the sum of both is written to "fold"; (2) fold_site, one word, is set to
 * the site: from then on the sum in "fold" replaces site.counts, and the slot does not count; (3)
 * the sum is copied to the site and the slot is cleared; (4) fold_site is set to 0. So at every
 * instant a reader finds each count exactly once:
 *     folded(site) = fold of the one thread whose fold_site is the site, else site.counts */
struct leak_slots {
    uint32_t thread; /* number of the thread that uses these slots; 0 = none, every slot is empty */
    uint32_t count;  /* number of slots that follow */
    uint32_t fold_site; /* publish: site whose counts "fold" replaces; 0 = none */
    uint32_t fold_slot; /* index of the slot that is being folded */
    struct leak_counts fold;
    uint64_t reserved[2];
    struct leak_slot slot[];
};

/* ---- Misuse: wrong frees --------------------------------------------------------------------- */

/* The kinds of wrong frees: T(NAME, word) */
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

/* What is at the address of an INVALID_FREE: W(NAME, words) */
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

/* Wrong frees of one kind at one place. All fields but the counts and last_tick describe the first
 * one. */
struct leak_event {
    uint32_t type;         /* publish: a value of enum leak_event_type */
    uint8_t form;          /* form of the wrong call: a value of enum leak_form */
    uint8_t place;         /* a value of enum leak_place */
    uint16_t block_thread; /* low bits of the number of the thread that allocated the block */
    uint32_t block_count;  /* number of the block's allocation in that thread; 0 = unknown */
    uint32_t site;         /* allocation site of the block; 0 = the address belongs to no block */
    uint64_t address;      /* address that was passed to the call */
    int64_t offset;        /* offset of the address from the start of the block */
    uint64_t size;         /* size of the block */
    uint64_t said;         /* size or alignment that was passed to the call */
    /* The alignment that the block was allocated with; 0 = unknown, or more than 2^18. */
    uint64_t right;
    uint64_t pc;     /* return address of the call */
    uint32_t node;   /* node of the innermost frame of the call */
    uint32_t thread; /* number of the calling thread; 0 = unknown */
    uint32_t tick, last_tick;
    uint64_t count;
    /* If type is DOUBLE_FREE: the first free of the block, as in struct leak_recent_free. */
    uint64_t freed_pc;
    uint32_t freed_node, freed_thread, freed_tick, freed_form;
    /* Numbers of struct leak_pool: the pool of the block, and the pool that was passed to the call;
     * 0 = it has no name. */
    uint32_t block_pool, call_pool;
    uint64_t reserved[1];
};

#define LEAK_EVENTS 254 /* the table with its chunk head fills eight pages */
struct leak_events {
    uint64_t left_out; /* number of wrong frees for which there was no space */
    uint64_t reserved[15];
    struct leak_event event[LEAK_EVENTS];
};

/* The name of a pool of the program, written when a wrong free mentions the pool. */
#define LEAK_POOL_NAME 56
/* Largest number of named pools: together with the chunk head the table fills one page. Further
 * pools have no name. */
#define LEAK_POOLS 63
struct leak_pool {
    uint32_t number; /* publish: 1, 2, 3 … */
    uint32_t reserved;
    char name[LEAK_POOL_NAME]; /* NUL-terminated; a longer name is truncated */
};

/* ---- Resources: descriptors, files, mappings, libraries, threads ------------------------------
 *
 * One record for each open resource, unordered; records are reused. A writer clears the state,
 * fills the record, and stores the state last. */

/* The kinds of resources: X(NAME, word, noun, plural, title, sentence, remedy)
 *   word                       names the kind in the option track= and in reports
 *   title, sentence, remedy    are the text of the rule in SARIF reports */
#define LEAK_CLOSE_IT "Close it on every path, errors included."
#define LEAK_RESOURCE_TABLE(X)                                                                     \
    X(FD, "fd", "descriptor", "descriptors", "Descriptor left open",                               \
      "A descriptor was still open at the end.", LEAK_CLOSE_IT)                                    \
    X(FILE, "file", "stream", "streams", "Stream left open",                                       \
      "A stream was still open at the end.", LEAK_CLOSE_IT)                                        \
    X(DIR, "dir", "directory", "directories", "Directory left open",                               \
      "A directory was still open at the end.", LEAK_CLOSE_IT)                                     \
    X(MMAP, "mmap", "mapping", "mappings", "Mapping left", "A mapping still existed at the end.",  \
      "Unmap it on every path, errors included.")                                                  \
    X(DL, "dl", "library handle", "library handles", "Library handle left open",                   \
      "A library handle was still open at the end.", LEAK_CLOSE_IT)                                \
    X(THREAD, "thread", "thread", "threads", "Thread neither joined nor detached",                 \
      "The thread ended, and its stack waits for a join that was never made.",                     \
      "Join or detach it.")                                                                        \
    X(PAIR, "pair", "object", "objects", "Object left",                                            \
      "An object that one function created was not destroyed by its counterpart.",                 \
      "Destroy it on every path, errors included.")

enum leak_resource_type {
    LEAK_RESOURCE_NONE = 0,
#define X(name, ...) LEAK_RESOURCE_##name,
    LEAK_RESOURCE_TABLE(X)
#undef X
        LEAK_RESOURCE_MAX
};

enum leak_resource_state {
    /* A state that occurs only inside the runtime, never in a recording file. */
    LEAK_RESOURCE_FREE = 0,
    LEAK_RESOURCE_OPEN,
    LEAK_RESOURCE_CLOSED,
    LEAK_RESOURCE_BAD_CLOSE, /* a close of a descriptor number that was not open */
    LEAK_RESOURCE_TOTALS,    /* the record is a struct leak_resource_totals */
    /* "count" resources of this type were opened by the call stack "opened" and released by the
     * call stack "closed". */
    LEAK_RESOURCE_RELEASED,
};

enum leak_resource_flag {
    LEAK_RESOURCE_INHERITED = 1, /* the resource was open when the process started */
    LEAK_RESOURCE_CUT = 2,       /* the name is truncated: its beginning is missing */
    LEAK_RESOURCE_PENDING = 4,   /* a library whose dlopen has not returned yet */
    LEAK_RESOURCE_NEVER = 8,     /* a bad close: the descriptor number was never open */
    LEAK_RESOURCE_SWEEP = 16,    /* a bad close: its call stack closes all descriptor numbers */
    /* A bad close: between the valid close of the descriptor number and the wrong one it belonged
     * to another open file. */
    LEAK_RESOURCE_TAKEN = 32,
    /* A descriptor that was opened together with another one, as the other end of a pipe. */
    LEAK_RESOURCE_SECOND = 64,
};

/* The origins of resources, which reports show if a resource has no name: X(NAME, words) */
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
    LEAK_NAME_PEER,  /* the name is a struct sockaddr: the address of a socket's peer */
    LEAK_NAME_LOCAL, /* the name is a struct sockaddr: the local address of a socket */
};

/* Call stack, thread and time of an event. */
struct leak_mark {
    uint32_t
        node; /* node of the innermost frame, or an enum leak_root; LEAK_ROOT_NONE = not observed */
    uint32_t thread;
    uint32_t tick;
};

#define LEAK_RESOURCE_NAME 80
struct leak_resource {
    uint32_t state;    /* publish: a value of enum leak_resource_state */
    uint8_t type;      /* a value of enum leak_resource_type */
    uint8_t sort;      /* a value of enum leak_sort */
    uint8_t flags;     /* flags of enum leak_resource_flag */
    uint8_t name_form; /* a value of enum leak_name_form */
    /* Of a library: number of opens by this call stack. Of a bad close: number of closes. Else
     * 1. */
    uint32_t count;
    uint32_t name_length;
    uint64_t id;    /* of a descriptor or a bad close: the descriptor number; else an address */
    uint64_t bytes; /* size of a mapping or pair= object (0 = unknown); number of a thread */
    /* Only the runtime uses it: address of the FILE or DIR to which a descriptor belongs. */
    uint64_t owner;
    struct leak_mark opened;
    struct leak_mark closed, again; /* of a bad close: the valid close before, and the wrong one */
    int32_t fd;                     /* descriptor of a stream or directory, -1 = it has none */
    char name[LEAK_RESOURCE_NAME];
};

/* Totals of all resources, in the place of one struct leak_resource. */
struct leak_resource_totals {
    uint32_t state; /* publish: LEAK_RESOURCE_TOTALS */
    uint32_t reserved;
    /* For each enum leak_resource_type: number of opens in this process. In versions 1 and 2 it has
     * 8 elements, which "missed" follows. */
    uint64_t opened[16];
    uint64_t missed; /* number of resources for which there was no space or no memory */
    uint64_t rest[2];
};

/* ---- History --------------------------------------------------------------------------------
 *
 * The size of the heap, and of the sites that hold most of it, over time. The history has a fixed
 * number of entries. When all are used, the entry whose neighbours are closest together for their
 * age is overwritten (docs/GROWTH.md), so points and rows are unordered; each has its time. Only the
 * process writes, under a lock; an entry that is being written has tick 0. */

#define LEAK_HISTORY_POINTS 256
#define LEAK_HISTORY_COLUMNS 126
#define LEAK_HISTORY_ROWS 64
/* Number of rows in a chunk, which is added when it is needed; a row takes one page, at most once a
 * second. */
#define LEAK_ROWS_A_CHUNK 8
#define LEAK_PEAK_SITES 124

struct leak_point {
    uint32_t tick; /* publish: tick of this point + 1 */
    uint32_t reserved;
    uint64_t live_bytes, live_blocks;
};

/* The history of sites is a table: a row for each time, a column for each of the sites that hold
 * most. Entry i of each row that was written at "since" or later has the counts of column i's
 * site. */
struct leak_column {
    uint32_t site; /* publish */
    uint32_t since;
    uint64_t peak; /* maximum of live_bytes over all rows */
    /* Estimate of the sum of the lifetimes of the site's freed blocks, in ticks; 0 with
     * free_stacks=off. */
    uint64_t freed_age;
    uint64_t reserved;
};

struct leak_row_entry {
    uint64_t allocs, frees, live_bytes;
    uint64_t freed_age; /* value of leak_column.freed_age at that time */
};

struct leak_row {
    uint32_t tick; /* publish: tick of this row + 1 */
    uint32_t reserved[3];
    struct leak_row_entry at[LEAK_HISTORY_COLUMNS];
};

struct leak_peak_site {
    uint32_t site;
    uint32_t reserved;
    uint64_t bytes, blocks;
};

/* The live blocks at the peak of the heap. It is written when the heap begins to shrink, if the
 * peak is at least 1/128 larger than the one written before. The peak of a process that dies at its
 * peak is not written: it is the set of live blocks. */
struct leak_peak {
    /* publish: a serial number; of the two peaks the one with the higher number is valid; 0 =
     * none. */
    uint32_t number;
    uint32_t tick;
    uint32_t count; /* number of entries in site[]: the sites that held most, unordered */
    uint32_t reserved;
    uint64_t bytes, blocks; /* sums over all sites */
    struct leak_peak_site site[LEAK_PEAK_SITES];
};

/* The memory limits of a process: X(NAME, words) */
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
    uint64_t limit;    /* memory limit of this process when it started, in bytes; 0 = none */
    uint32_t limit_of; /* which limit that is: a value of enum leak_limit */
    uint32_t reserved[13];
    struct leak_column column[LEAK_HISTORY_COLUMNS];
    struct leak_point point[LEAK_HISTORY_POINTS];
    struct leak_peak peak[2]; /* written alternately, so that one is always complete */
};

/* ---- Milestones ------------------------------------------------------------------------------
 *
 * A milestone divides the blocks of a process into older and newer ones. It is a mark, which has a
 * name, or a requested leak check. Each milestone starts a new tick, so a block is newer than a
 * milestone if its tick is not lower. When all entries are used, the oldest one is overwritten. The
 * last entry is reserved for the newest milestone with is_known. */

#define LEAK_MILESTONES 63
#define LEAK_MILESTONE_KNOWN "reported"
struct leak_milestone {
    uint32_t number; /* publish: 1, 2, 3 …; 0 while it is being written */
    uint32_t tick;
    uint64_t when_ns;
    uint32_t is_look; /* 1: the milestone is a leak check, and its name is empty */
    /* 1: the user knows the older blocks already (libleak_mark_reported); they are shown only with
     * --reported; the name is LEAK_MILESTONE_KNOWN. */
    uint32_t is_known;
    uint32_t reserved[2];
    /* NUL-terminated; if several marks have the same name, the newest counts. */
    char name[LEAK_MILESTONE_NAME];
};

/* ---- Leak checks ---------------------------------------------------------------------------
 *
 * A leak check writes one SNAPSHOT chunk, published as a whole when its length is stored: a head,
 * and tables of fixed records, each at its offset in the payload. The child process of the leak
 * check writes it (or, if no leak check was possible, the process itself). The newest leak check
 * counts. It may come before an older one in the file, because two chunks are written alternately.
 * At exit, a leak check EARLY may be followed by one LATE, whose result then counts for both.
 *
 * Blocks that are not in the tables were allocated after the leak check; for a reader they are
 * "unfreed":
 *     live(site) = sum of found.blocks of that site + blocks allocated since - blocks freed
 * since. */

/* The verdicts of a leak check: V(NAME, word) */
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

/* How well the threads were stopped while the process forked the copy that makes the leak check. */
enum leak_rung {
    LEAK_RUNG_NONE =
        0, /* no leak check was possible: "trouble" gives the reason, and the tables are empty */
    /* Threads kept running: a block counts as lost only if it is lost in two copies of the
     * process. */
    LEAK_RUNG_UNSTOPPED,
    LEAK_RUNG_PARKED, /* all threads were stopped */
};

/* The occasions of leak checks: X(NAME, words) */
#define LEAK_OCCASION_TABLE(X)                                                                     \
    X(ASKED, "requested by the program")                                                           \
    X(SIGNAL, "requested by a signal")                                                             \
    X(PERIODIC, "by snapshot_every")                                                               \
    X(EARLY, "at exit")                                                                            \
    X(LATE, "after the last exit handler")                                                         \
    X(ABRUPT, "at an exit without exit handlers")                                                  \
    X(LIMIT, "near the memory limit")                                                              \
    X(CONTROL, "requested by leakctl")                                                             \
    X(FATAL, "before a signal killed the process")

enum leak_occasion {
    LEAK_OCCASION_NONE = 0,
#define X(name, words) LEAK_OCCASION_##name,
    LEAK_OCCASION_TABLE(X)
#undef X
        LEAK_OCCASION_MAX
};

/* The reasons why no leak check was possible: X(NAME, words after "no leak check was made: ") */
#define LEAK_TROUBLE_TABLE(X)                                                                      \
    X(NO_CHILD, "no child process could be made (process limit or memory)")                        \
    X(NO_MAPS, "/proc/self/maps cannot be read")                                                   \
    X(NO_MEMORY, "the leak check needed more memory than is free or look_mem allows")              \
    X(NO_TIME, "the leak check did not finish within exit_budget")                                 \
    X(DIED, "the child process of the leak check died")                                            \
    X(SAMPLED, "with sample= most blocks are unknown")                                             \
    X(FILTERED, "blocks left out by size may hold pointers to others")                             \
    X(UNTRACKED, "blocks that were not tracked for lack of memory may hold pointers to others")    \
    X(SANDBOXED, "a seccomp filter allows no copy of the process")

enum leak_trouble {
    LEAK_TROUBLE_NONE = 0,
#define X(name, words) LEAK_TROUBLE_##name,
    LEAK_TROUBLE_TABLE(X)
#undef X
        LEAK_TROUBLE_MAX
};

/* A table in the payload: "count" records; the first one is "at" bytes behind the chunk head. */
struct leak_table {
    uint32_t at, count;
};

/* The address that the command "leakctl who" asks about, and the block that contains it. Size 0 and
 * site 0: no block does. */
struct leak_asked {
    uint64_t address; /* the address in question; 0: there was no such request */
    uint64_t block, size;
    uint32_t site, found; /* site of that block; found: index + 1 of its struct leak_found */
    uint32_t count, tick;
    uint16_t thread, reserved[3];
};

struct leak_snapshot {
    uint32_t head_size; /* size in bytes of this struct in the file */
    uint8_t rung, occasion, trouble;
    /* Number of pages without access that were read as zeros; 255: as many or more. */
    uint8_t unreadable;
    uint64_t when_ns;
    uint32_t tick;
    /* Value of header.sites at the leak check: sites with higher ids are newer. */
    uint32_t sites;
    /* Time for which threads were stopped: from the first one stopped to the last one resumed. */
    uint64_t pause_ns;
    uint64_t check_ns; /* duration of the analysis in the child process */
    /* Number of threads that were stopped, and that could not be; the thread that made the leak
     * check is not counted. */
    uint32_t threads_parked, threads_missed;
    /* Number of periodic leak checks that were skipped so far because of pause_budget. */
    uint32_t skipped;
    /* 1: leak_found.retained_* of reachable blocks is 0, because there was no memory to compute
     * it. */
    uint16_t retained_unknown;
    /* Number of blocks that may contain words of older blocks (fill=auto), at most 255. */
    uint16_t uncleared;
    struct leak_table found;   /* struct leak_found, unordered */
    struct leak_table roots;   /* struct leak_held: the roots that keep most alive, unordered */
    struct leak_table steps;   /* struct leak_step: the steps of the paths from roots to blocks */
    struct leak_table samples; /* struct leak_sample: single blocks */
    struct leak_table threads; /* struct leak_seen_thread: the threads of the process */
    struct leak_table pcs;     /* uint64_t: the call stacks of the threads, innermost frame first */
    /* struct leak_module, packed: "count" is a number of bytes. The objects whose data contains
     * roots; "loaded" and "unloaded" are 0. */
    struct leak_table modules;
    struct leak_table contents; /* uint8_t: first bytes of the samples (option content=) */
    struct leak_table orphans;  /* struct leak_orphan, ascending by the time of the last free */
    struct leak_table ages;     /* struct leak_age, unordered */
    struct leak_table pointers; /* struct leak_pointer: words that point to the asked block */
    struct leak_asked asked;    /* the address that the command "leakctl who" asks about, and its
                                 * block */
    uint32_t milestone;         /* number of the milestone that this leak check is; 0 = none */
    /* Number of LEAK_PAGEs of private memory that the program has mapped itself and that belongs to
     * no file and no stack, and in which no tracked block lies. */
    uint32_t apart;
    struct leak_table parts; /* struct leak_part, unordered */
    /* struct leak_interior, unordered. In recordings made before this table existed, this struct
     * ends before it. */
    struct leak_table interiors;
    /* struct leak_loss, unordered. In recordings made before this table existed, this struct ends
     * before it. */
    struct leak_table losses;
    /* when_ns of the previous leak check, 0 = this is the first one; EARLY and LATE count as
     * one. */
    uint64_t after_ns;
};

/* The times at which LOST or INDIRECT blocks of one site were lost: "first" are the two leak
 * checks between which their number first became more than 0, "last" the two between which it
 * last rose. */
struct leak_loss {
    uint32_t site, reserved;
    struct leak_loss_span {
        /* when_ns of a leak check and of the next one; after_ns 0: there was no leak check
         * before. */
        uint64_t after_ns, by_ns;
    } first, last;
};

/* The blocks of one struct leak_found that were allocated at this milestone or later, and before
 * the next one. Blocks in no leak_age are older than all milestones. */
struct leak_age {
    uint32_t found; /* index of that struct leak_found in the table "found" */
    uint32_t milestone;
    uint64_t blocks, bytes;
};

/* Blocks of one struct leak_found that are POSSIBLE or have LEAK_FOUND_HEADER: at which offset, and
 * from which blocks, pointers point into them. The number of these records is limited; further ones
 * are left out. */
struct leak_interior {
    uint32_t found; /* index of that struct leak_found in the table "found" */
    /* Site of the blocks that contain these pointers; 0 = the pointers are in roots. */
    uint32_t holder;
    /* Offset from the start of the block to which the pointers point; 0 = the start, or unknown. */
    uint64_t offset;
    uint64_t blocks;
};

/* Largest number of struct leak_pointer; with as many, there may be more pointers. */
#define LEAK_POINTERS 1024

/* A word with a pointer into the block that the command "leakctl who" asks about. */
struct leak_pointer {
    uint64_t address;
    uint64_t offset;      /* offset of the pointer's target from the start of the block */
    uint64_t block, size; /* the block that contains the word */
    uint32_t site;        /* site of the block that contains the word; 0 = the word is a root */
    /* Index + 1 of the word in the table "roots"; 0 = the word is in a block, or was not recorded
     * as a root. */
    uint32_t root;
};

/* Live blocks of one site to which blocks of another site pointed when those were freed. Only a
 * sample of frees is examined, and only the last few of such live blocks are recorded. */
struct leak_orphan {
    uint32_t site;
    uint32_t holder; /* site of the freed blocks, which owned the live ones */
    uint32_t node;   /* node of the innermost frame of the free, or an enum leak_root */
    /* Number of the recorded live blocks that are lost or indirectly lost; may be 0. */
    uint32_t blocks;
    uint64_t address; /* address of one of the live blocks */
};

enum leak_found_flag {
    /* A reference cycle: "blocks" counts one block of each cycle, its leader; the other blocks are
     * INDIRECT and owned by it. Not set if they point only into the leader, as the nodes of a
     * container do that it owns. */
    LEAK_FOUND_CYCLE = 1,
    LEAK_FOUND_DROPPED = 2, /* REACHABLE, but only until the exit handlers ran */
    LEAK_FOUND_IGNORED = 4, /* REACHABLE, because the program has called libleak_ignore */
    /* INDIRECT, and owned by several lost records; "owner" is one of them */
    LEAK_FOUND_SHARED = 8,
    /* POSSIBLE, because of an unaligned pointer to one of the first 15 bytes; the pointer's low
     * bits may be a tag. */
    LEAK_FOUND_TAGGED = 16,
    /* REACHABLE through a pointer behind a header, as all blocks of its kind are. */
    LEAK_FOUND_HEADER = 32,
};

/* Blocks of one site with one verdict, flags and owner. */
struct leak_found {
    uint32_t site;
    uint8_t verdict; /* a value of enum leak_verdict */
    uint8_t flags;   /* flags of enum leak_found_flag */
    uint16_t reserved;
    /* If INDIRECT: index + 1 in the table "found" of the lost record that owns these blocks. */
    uint32_t owner;
    uint32_t first, last; /* ticks of the oldest and of the newest block */
    /* If REACHABLE: index + 1 in the table "roots" of the root at which the path begins; 0 = not
     * recorded. */
    uint32_t root;
    struct {
        /* The path to the largest block: index of its first step in the table "steps", and number
         * of its steps. The last step leads to the block. */
        uint32_t first, count;
    } path;
    struct {
        /* The largest blocks: index of the first one in the table "samples", and how many. */
        uint32_t first, count;
    } sample;
    uint64_t blocks, bytes;
    uint64_t retained_blocks,
        retained_bytes; /* what would be released if these blocks were freed, themselves included */
};

/* The classes of roots: X(NAME, word) */
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

/* A root: a word outside the heap that points into it. */
struct leak_held {
    uint64_t address; /* address of the word; 0 if root_class is REGISTERS */
    /* Memory that contains the word: data of a module, a stack, a mapping, memory of
     * libleak_add_root. */
    uint64_t start, size;
    /* If root_class is STACKS: an address in the function whose stack frame contains the word; 0 =
     * unknown. */
    uint64_t pc;
    uint64_t cfa; /* if root_class is STACKS: CFA of that stack frame */
    /* If root_class is STACKS, REGISTERS or TLS: number of the thread; 0 = a thread that never
     * allocated. */
    uint32_t thread;
    uint8_t root_class; /* a value of enum leak_root_class */
    uint8_t reserved;
    uint16_t key;           /* not 0: the word is the value of pthread key number key - 1 */
    int64_t tls_offset;     /* if root_class is TLS: offset of the word from the thread pointer */
    uint64_t blocks, bytes; /* sums over the blocks whose shortest path starts at this root */
};

/* The blocks of one site whose shortest path starts at one root. If a root has very many
 * sites, some are left out. */
struct leak_part {
    uint32_t root; /* index + 1 of the root in the table "roots" */
    uint32_t site;
    uint64_t blocks, bytes;
};

/* One step of a path: the word at +offset in the previous block (0 for the root word) points to
 * +into in a block of "size" bytes from this site. Site 0: some steps are left out here. */
struct leak_step {
    uint64_t offset;
    uint64_t size;
    uint32_t site;
    uint32_t into;
};

struct leak_sample {
    uint64_t address, size;
    uint32_t count;  /* number of the block's allocation in its thread */
    uint16_t thread; /* low bits of the number of the thread that allocated the block */
    uint16_t reserved;
    uint32_t tick;
    struct {
        /* The first bytes of the block: index of the first one in the table "contents", and how
         * many. */
        uint32_t first, count;
    } content;
    uint32_t unused;
};

/* ---- Followed blocks ------------------------------------------------------------------------
 *
 * With follow_blocks= the process checks, at each allocation and each free, whether the word that
 * points to such a block still does. If not, it searches another word that does. The record tells
 * where the last such word was overwritten, or which function with the word in its stack frame
 * returned. */

#define LEAK_FOLLOWED_MOST 4
/* A bit of leak_followed.thread: follow_blocks= named the block by its call stack, and the number is
 * that of the block that was found. */
#define LEAK_FOLLOWED_BY_STACK 0x80000000u
/* Number of frames of a call stack, from the innermost on, whose hash is part of such a name. */
#define LEAK_FOLLOWED_STACK 12
#define LEAK_FOLLOWED_FRAMES 48

enum leak_followed_state {
    LEAK_FOLLOWED_NONE = 0, /* the block was not allocated so far */
    LEAK_FOLLOWED_HELD,     /* a word pointed to the block when the record was written */
    LEAK_FOLLOWED_LOST,
    LEAK_FOLLOWED_FREED,
    LEAK_FOLLOWED_UNKNOWN, /* no leak check was possible, or too many would have been needed */
    /* The block that held it at the end is lost itself. */
    LEAK_FOLLOWED_LOST_BELOW,
};

/* Adds a frame to the hash of a call stack. offset: the address before the return address, without
 * the load address of its object; in no object: the return address. */
static inline uint64_t leak_followed_hash(uint64_t hash, uint64_t offset)
{
    uint64_t mixed = (hash ^ offset) * 0x9e3779b97f4a7c15ull;
    return (mixed ^ mixed >> 29) + 1;
}

/* A word that points to the block or into it. */
struct leak_holder {
    struct leak_held word; /* the word; if it is in a block, only its address is set */
    uint64_t block, size;  /* the block that contains the word; 0 = the word is a root */
    uint32_t site;         /* site of the block that contains the word */
    uint32_t into;         /* offset of the pointer's target from the start of the followed block */
};

/* A word that pointed to the block at one call of an allocation function, and at a later call no
 * longer did. */
struct leak_drop {
    /* Number of the later call, counted from the block's allocation; 0 = nothing is recorded
     * here. */
    uint32_t event;
    uint32_t before, after; /* context tree nodes of the earlier and of the later call */
    /* Number of frames of the instruction that overwrote the word; 0 = it is not known. */
    uint32_t frame_count;
    /* Innermost frame first; each address is behind its instruction, like a return address. */
    uint64_t frames[LEAK_FOLLOWED_FRAMES];
    struct leak_holder holder;   /* the word; root_class 0 and block 0: no word was found */
    uint64_t jump_from, jump_to; /* the last jump before that instruction; 0 = not known */
    uint32_t since; /* number of the call from which on only words on stacks pointed to the block */
    uint32_t late;  /* 1: the instruction was executed after the later call */
};

/* The last instruction that read or wrote one of the watched bytes at the start of the block. */
struct leak_use {
    uint32_t frame_count; /* 0 = no use is known */
    uint32_t bytes;       /* number of bytes of the block that were watched */
    /* Number of allocations and frees until the use, counted from the block's allocation. */
    uint32_t event;
    uint32_t reserved;
    /* Innermost frame first; each address is behind its instruction, like a return address. */
    uint64_t frames[LEAK_FOLLOWED_FRAMES];
};

struct leak_followed {
    /* The serial T<thread>#<count> of the block; with LEAK_FOLLOWED_BY_STACK. */
    uint32_t thread, count;
    uint32_t state; /* a value of enum leak_followed_state */
    uint32_t site;
    uint64_t address, size;
    uint32_t events;   /* number of allocations and frees since the block's allocation */
    uint32_t searches; /* number of leak checks that were made to find words that point to it */
    /* The last word outside of stacks and registers that pointed to the block. */
    struct leak_drop stored;
    /* The last word of all that pointed to the block, if the block is lost. */
    struct leak_drop last;
    struct leak_use used; /* the last use, if this is the only block that is followed */
};

/* The start of the followed block as words of 4 bytes, watched to find a reference count. */
#define LEAK_COUNTERS 6
#define LEAK_COUNTINGS_MOST 64
#define LEAK_COUNTING_FRAMES 8

struct leak_counter {
    uint32_t changes; /* number of changes after the first value */
    /* 1: the word is no reference count: a change was not by 1, or has no struct leak_counting. */
    uint32_t is_none;
    int32_t first, value, most;
    uint32_t reserved;
};

/* Changes of one word of leak_counters.words by code with one call stack (its innermost frames). */
struct leak_counting {
    /* publish: number of frames; 0: this record and those behind it are free. */
    uint32_t frame_count;
    uint16_t word; /* index of the word in leak_counters.words */
    int16_t by;    /* the change: 1 or -1; 0: the code has stored the first value */
    uint32_t times;
    uint32_t reserved;
    /* Innermost frame first; each address is behind its instruction, like a return address. */
    uint64_t frames[LEAK_COUNTING_FRAMES];
};

struct leak_counters {
    struct leak_counter words[LEAK_COUNTERS];
    struct leak_counting countings[LEAK_COUNTINGS_MOST];
};

/* How a function that had the followed block ended: the flags of leak_way.how. */
#define LEAK_WAY_ENDED 1    /* the function has returned */
#define LEAK_WAY_THROWN 2   /* an exception or longjmp has left the function */
#define LEAK_WAY_RETURNED 4 /* its result, in a register, was a pointer to the block */
#define LEAK_WAY_JUMPS 8
#define LEAK_WAY_FRAMES 8
#define LEAK_WAYS_ENDED 32
#define LEAK_WAYS_PASSED 16
#define LEAK_WAY_COUNTERS 32

struct leak_way_jump {
    uint64_t from, to; /* address of the jump, call or return, and of the next instruction */
};

struct leak_way {
    uint32_t frame_count; /* publish: number of frames; 0: there is no record here */
    uint32_t how;         /* publish: the constants LEAK_WAY_ above; 0: it has not ended */
    uint32_t number;      /* in leak_trail.passed: number of the call, from 1 */
    uint32_t variable;    /* 1: not the block was passed, but the variable that points to it */
    uint32_t jump_count, reserved;
    /* Address behind the last instruction of the function that was executed; 0: unknown. If the
     * function has not ended: known of the function that was being executed when the block was lost
     * or the program ended. */
    uint64_t left_at;
    /* An address in the function, then the return addresses of its callers, innermost first. The
     * address in the function is, in leak_trail.ended, behind its call that led to the allocation;
     * in leak_trail.passed one byte behind its first instruction. */
    uint64_t frames[LEAK_WAY_FRAMES];
    /* the last jumps of the function itself, the latest at the end */
    struct leak_way_jump jumps[LEAK_WAY_JUMPS];
};

/* The way of the followed block through the functions of the program. */
struct leak_trail {
    uint32_t passed_count; /* number of calls that passed the block */
    uint32_t is_cut;       /* 1: the records end before the block was lost */
    /* The functions of the allocation's call stack, innermost first. */
    struct leak_way ended[LEAK_WAYS_ENDED];
    /* The latest calls that passed the block; number N is at index (N - 1) % LEAK_WAYS_PASSED. */
    struct leak_way passed[LEAK_WAYS_PASSED];
    /* Changes of words at the start of the block, recorded as in struct leak_counters. */
    struct leak_counter words[LEAK_WAY_COUNTERS];
    struct leak_counting countings[LEAK_COUNTINGS_MOST];
};

struct leak_seen_thread {
    uint32_t serial; /* number of the thread; 0 = a thread that never allocated */
    int32_t tid;
    /* parked: the thread was stopped; taker: the thread made the leak check. */
    uint8_t parked, taker;
    uint8_t reserved[6];
    struct {
        /* The call stack of the thread: index of its first frame in the table "pcs", and number of
         * frames. */
        uint32_t first, count;
    } stack;
    char name[LEAK_THREAD_NAME];
};

/* ---- Crashes -------------------------------------------------------------------------------
 *
 * The thread that dies writes a struct leak_crash, on a stack of libleak, without locks and without
 * allocating memory. A process has only one: a later crash overwrites the one before. It is
 * published in steps by the length of the chunk: first the head, then frames and nearby blocks,
 * last the modules. */

enum leak_crash_state {
    LEAK_CRASH_NONE = 0, /* the record is being written */
    /* SIGABRT was passed to a handler of the program; it is a crash if the signal then killed the
     * process. */
    LEAK_CRASH_HANDED,
    LEAK_CRASH_FATAL, /* the default action of the signal followed */
};

enum leak_crash_flag {
    LEAK_CRASH_OVERFLOW = 1,    /* the crash is a stack overflow */
    LEAK_CRASH_HAS_ADDRESS = 2, /* "address" is the address of the failed access */
    LEAK_CRASH_IN_LIBLEAK = 4,  /* the thread was in a hook of libleak */
    /* The thread was in the program's allocator, called by a hook of libleak. */
    LEAK_CRASH_IN_ALLOCATOR = 8,
    LEAK_CRASH_LOOK = 16, /* a leak check was running */
    /* A part of the block table was being changed, so blocks in that part are not recorded. */
    LEAK_CRASH_BLOCKS_BUSY = 32,
    /* There is no code at pc: the thread has called or jumped to a wrong address, and the frames
     * begin with the caller. */
    LEAK_CRASH_CALLED = 64,
};

enum leak_access {
    LEAK_ACCESS_UNKNOWN = 0,
    LEAK_ACCESS_READ,
    LEAK_ACCESS_WRITE,
    LEAK_ACCESS_EXECUTE
};

/* A live block near an address. If address - block < size, the block contains the address, else the
 * address is after its end. Site 0: none. */
struct leak_crash_near {
    uint64_t address;
    uint64_t block, size;
    uint32_t site, count; /* count: number of the block's allocation in its thread */
    uint32_t tick;
    uint16_t thread; /* low bits of the number of the thread that allocated the block */
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
    uint64_t start, end;        /* end 0: there is no such mapping */
    uint32_t flags;             /* flags of enum leak_mapping_flag */
    char path[LEAK_CRASH_PATH]; /* NUL-terminated; of a longer path its end is kept */
    uint32_t reserved;
};

/* One frame of a crash. period: if not 0, this frame is the last of "period" frames that the stack
 * then repeats "times" more times (recursion). */
struct leak_crash_frame {
    uint64_t pc; /* as in struct leak_node: the frame's function is that of pc - 1 */
    uint32_t period, times;
};

#define LEAK_CRASH_REGISTERS 40
#define LEAK_CRASH_FRAMES 192
#define LEAK_CRASH_OUTER 32
struct leak_crash {
    uint32_t head_size;   /* size in bytes of this struct in the file */
    uint32_t state;       /* publish: a value of enum leak_crash_state */
    int32_t signal, code; /* si_signo and si_code of the signal */
    int32_t sender;       /* pid of the sender, for a signal that was sent */
    uint32_t sender_uid;
    uint32_t flags;  /* flags of enum leak_crash_flag */
    uint32_t access; /* a value of enum leak_access */
    uint64_t address, pc, sp;
    uint64_t when_ns;
    uint32_t tick;
    uint32_t thread; /* number of the thread; 0 = a thread that never allocated */
    int32_t tid;
    uint32_t register_count;
    /* In the order of LEAK_CPU_TABLE, which is the kernel's, without pc. */
    uint64_t registers[LEAK_CRASH_REGISTERS];
    char name[LEAK_THREAD_NAME]; /* name of the thread */

    /* The mappings that contain "address", and those just below and above it. */
    struct leak_crash_mapping at, below, above;
    struct leak_crash_mapping stack; /* the mapping that contains sp, or is just above it */
    /* Live blocks near "address", and near the value of each register. */
    struct leak_crash_near near[1 + LEAK_CRASH_REGISTERS];

    uint64_t depth;  /* number of all frames of the stack */
    uint32_t ending; /* why the stack ends: a value of enum leak_root */
    uint32_t frame_count, outer_count;
    uint32_t reserved;
    struct leak_crash_frame frames[LEAK_CRASH_FRAMES]; /* innermost frame first */
    uint64_t
        outer[LEAK_CRASH_OUTER]; /* the outermost frames, if there are more than fit in frames[] */
    uint64_t left_out;           /* number of frames between frames[] and outer[] */
    /* struct leak_module, packed: "count" is a number of bytes; "loaded" and "unloaded" are 0. */
    struct leak_table modules;
};

/* ---- Layout ---------------------------------------------------------------------------------- */

/* Sizes on which readers of other versions rely. An intended change also needs a new
 * LEAK_STORE_VERSION and a change of docs/STORE.md. */
#ifdef __cplusplus
#define LEAK_ASSERT static_assert
#else
#define LEAK_ASSERT _Static_assert
#endif
#define LEAK_LAYOUT(name, size)                                                                    \
    LEAK_ASSERT(sizeof(struct leak_##name) == size,                                                \
                "leak_store.h: the layout of " #name " in recording files has changed");
LEAK_LAYOUT(request, 64)
LEAK_LAYOUT(request_file, 2048)
LEAK_LAYOUT(header, 408)
LEAK_LAYOUT(chunk, 64)
LEAK_LAYOUT(own, 24)
LEAK_LAYOUT(process, 16)
LEAK_LAYOUT(forks, 72)
LEAK_LAYOUT(module, 96)
LEAK_LAYOUT(thread, 64)
LEAK_LAYOUT(node, 16)
LEAK_LAYOUT(code, 32)
LEAK_LAYOUT(counts, 32)
LEAK_LAYOUT(tag, 64)
LEAK_LAYOUT(tags, 32704)
LEAK_LAYOUT(site, 64)
LEAK_LAYOUT(freed, 24)
LEAK_LAYOUT(temporary, 16)
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
LEAK_LAYOUT(snapshot, 232)
LEAK_LAYOUT(loss, 40)
LEAK_LAYOUT(interior, 24)
LEAK_LAYOUT(age, 24)
LEAK_LAYOUT(pointer, 40)
LEAK_LAYOUT(orphan, 24)
LEAK_LAYOUT(found, 72)
LEAK_LAYOUT(held, 72)
LEAK_LAYOUT(part, 24)
LEAK_LAYOUT(step, 24)
LEAK_LAYOUT(sample, 40)
LEAK_LAYOUT(counter, 24)
LEAK_LAYOUT(counting, 80)
LEAK_LAYOUT(way, 224)
LEAK_LAYOUT(trail, 16648)
LEAK_LAYOUT(counters, 5264)
LEAK_LAYOUT(seen_thread, 40)
LEAK_LAYOUT(crash_near, 40)
LEAK_LAYOUT(crash_mapping, 152)
LEAK_LAYOUT(crash_frame, 16)
LEAK_LAYOUT(crash, 6032)
#undef LEAK_LAYOUT

/* The tables above must fit: "opened" needs a counter for each kind of resource, and many values of
 * enums are written as one byte. */
LEAK_ASSERT(
    LEAK_RESOURCE_MAX <= sizeof(((struct leak_resource_totals *)0)->opened) / 8,
    "leak_store.h: leak_resource_totals.opened has no counter for the new kind of resource");
LEAK_ASSERT(LEAK_KIND_MAX - 1 <= 0xff && LEAK_SORT_MAX - 1 <= 0xff && LEAK_RESOURCE_MAX - 1 <= 0xff,
            "leak_store.h: kinds, sorts and types are written as one byte");
LEAK_ASSERT(LEAK_VERDICT_MAX - 1 <= 0xff && LEAK_ROOT_CLASS_MAX - 1 <= 0xff,
            "leak_store.h: verdicts and classes of roots are written as one byte");

#endif
