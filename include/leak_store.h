/* leak_store.h - the layout of a recording file (.leak), which each process under libleak writes.
 *
 * A recording is a sparse file of pages. Page 0 is the header; chunks follow it, each a whole
 * number of pages with the same 64-byte head. The process under libleak is the only writer of its
 * recording. A reader may read the file at any instant, also after SIGKILL, and must validate every
 * number. This header defines data only, no functions. docs/STORE.md explains the format with a
 * hexdump.
 *
 * Publication: a writer reserves space by adding to header.used, fills it, and publishes it last
 * with a release store: chunk.magic, then the word of each record that is marked "publish" below.
 * Data that is not published is zero, and readers skip it.
 *
 * The equation:  live(site) = folded(site) + sum over threads of slots(site),
 *                where each term is allocs - frees (and bytes - freed_bytes).
 */
#ifndef LEAK_STORE_H
#define LEAK_STORE_H

#include <stdint.h>

#define LEAK_STORE_MAGIC 0x31304b41454c4c42ull /* "BLLEAK01" read as little endian */
#define LEAK_STORE_VERSION 3
#define LEAK_STORE_OLDEST 1 /* readers read this version and all up to the one above */
#define LEAK_PAGE 4096ull
#define LEAK_CHUNK_MAGIC 0x4b4e4843u /* "CHNK" */
#define LEAK_BUILD_ID_MAX 32
#define LEAK_THREAD_NAME 16
#define LEAK_SITE_THREADS 3

/* The hot path has only one clock, the epoch word. One tick of it is 1/8 second. */
#define LEAK_TICKS_PER_SECOND 8

/* Time stamps: "ns" is CLOCK_REALTIME in nanoseconds; "tick" is a value of the epoch word, which
 * counts from started_ns. */

/* ---- Processes of libleak itself -------------------------------------------------------- */

/* In the environment of what libleak starts for its own work (leakreport, leakwatch, gdb ...), and so
 * of what these start. libleak.so does nothing in such a process, however it was loaded: below
 * /etc/ld.so.preload with report=exit each leakreport would start another one. leakrun removes it
 * from the environment of the user's program. */
#define LEAK_HELPER_VARIABLE "LIBLEAK_HELPER"
#define LEAK_HELPER_ENTRY LEAK_HELPER_VARIABLE "=1"

/* ---- The process and its end ----------------------------------------------------------- */

enum leak_end {
    LEAK_END_NONE = 0,   /* not observed: the process runs, or its end was not recorded */
    LEAK_END_EXIT = 1,   /* exit status in end_value */
    LEAK_END_SIGNAL = 2, /* signal number in end_value */
    LEAK_END_EXEC = 3,   /* exec was called and did not return */
};

/* Counters of what could not be tracked; reports show them. X(NAME, words for the report) */
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
    LEAK_FLAG_FORKED = 1,         /* a fork child: sites 1..inherited_sites came from the parent */
    LEAK_FLAG_NO_STACKS = 2,      /* site_stacks=off */
    LEAK_FLAG_FILTERED = 4,       /* min_size, max_size ...: unknown frees are no errors */
    LEAK_FLAG_FULL = 8,           /* the recording file was full: the newest sites are missing */
    LEAK_FLAG_ASKED = 16,         /* sample=: the process allocates, even if no block was sampled */
    LEAK_FLAG_CRASH_ONLY = 32,    /* crash=only: blocks are not tracked at all */
    LEAK_FLAG_OUT_OF_MEMORY = 64, /* set by leakwatch: the OOM killer killed the process */
    LEAK_FLAG_LATE = 256,         /* libleak was loaded late: older blocks are unknown */
    LEAK_FLAG_NEVER_ENABLED =
        128, /* started disabled (start=off, start_at, start_after) and never enabled */
    LEAK_FLAG_DETACHED = 512, /* leakctl detach: nothing is recorded from then on */
    LEAK_FLAG_EXIT_LOOK =
        2048, /* exit_look was on at the start: a report explains a missing check */
    LEAK_FLAG_PYTHON_UNREAD =
        4096, /* a Python was there whose frames could not be read: stacks have C frames alone */
    LEAK_FLAG_PYTHON_POOLS = 8192, /* Python carves small objects from pools: they are no blocks */
};

/* ---- Requests ---------------------------------------------------------------------------
 *
 * leakctl sends requests to a running process through header.request, the mailbox. It claims the
 * mailbox, fills it, stores ASKED and sends the signal that libleak reserves (snapshot_signal). The
 * thread that gets the signal takes the request as soon as it is outside of the runtime, executes
 * it and stores the answer. leakctl reads the answer and frees the mailbox. leakctl withdraws a
 * request that was not taken (ASKED to CLAIMED, by compare and swap, like ASKED to TAKEN), and
 * clears a request whose sender is dead. */

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
    LEAK_REQUEST_CLAIMED,  /* by leakctl, which fills the request or reads the answer */
    LEAK_REQUEST_ASKED,    /* by leakctl */
    LEAK_REQUEST_TAKEN,    /* by the process */
    LEAK_REQUEST_ANSWERED, /* by the process */
};

/* A(NAME, words for "leakctl: ...") */
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

/* The value that the signal carries (sigqueue). A signal without it requests a leak check. */
#define LEAK_REQUEST_VALUE 0x6c72

#define LEAK_MILESTONE_NAME 32
struct leak_request {
    uint32_t state;       /* publish: enum leak_request_state */
    uint32_t verb;        /* enum leak_verb */
    uint32_t answer;      /* to the request: enum leak_answer */
    int32_t asker;        /* pid of the sender … */
    uint64_t asker_start; /* … and its start time */
    uint64_t argument;    /* WHO: an address. SNAPSHOT: LEAK_REQUEST_GRAPH or 0. ANSWERED: number of
                             the new milestone; 0 = none */
    char name[LEAK_MILESTONE_NAME]; /* MARK: NUL-terminated */
};

/* The graph file that a request wants, at this offset of page 0. The process notes why there is none
 * before the leak check of that milestone appears. */
#define LEAK_REQUEST_GRAPH 1
#define LEAK_REQUEST_FILE_AT 2048
struct leak_request_file {
    uint32_t milestone; /* of the leak check that the error belongs to; 0: none has ended */
    int32_t error;      /* -errno; 0: the file was written */
    char path[LEAK_PAGE - LEAK_REQUEST_FILE_AT - 8]; /* absolute, NUL-terminated */
};

/* Page 0, whose fields up to "request" stand there in every version. A reader refuses newer versions
 * with a message that names them, and reads the older ones: version 1 ends before restricted_ns, and
 * 1 and 2 have half the counters in struct leak_resource_totals. */
struct leak_header {
    uint64_t magic; /* publish: written last */
    uint32_t version;
    uint32_t header_size; /* sizeof(struct leak_header) */
    uint32_t machine;     /* ELF e_machine */
    uint32_t flags;       /* enum leak_header_flag, atomic or */
    uint64_t file_size;   /* set at creation, never changed; the file is sparse */
    uint64_t used;        /* bytes reserved so far, including the header page; atomic add */

    int32_t pid, ppid;   /* ppid of a fork child: the process whose recording it inherited */
    uint64_t start_time; /* field 22 of /proc/PID/stat; with pid it identifies the process */
    uint64_t started_ns;
    uint64_t ended_ns; /* 0 = end not observed */
    uint32_t end_how;  /* enum leak_end */
    int32_t end_value;
    uint64_t
        inherited_sites; /* fork child: sites 1..N count only blocks inherited from the parent */

    uint32_t epoch;   /* ticks since started_ns; written by any thread that sees time has passed */
    uint32_t exec_at; /* tick of a call of exec that has not returned, else 0 */
    uint64_t folds;   /* changes whenever counts move between a slot and a site: a reader of a live
                         process reads it before and after the counts, and retries if it changed */
    uint64_t live_bytes; /* batched per thread: differs from the sum over sites by up to 64 KiB a
                            thread */
    uint64_t peak_bytes; /* the maximum of live_bytes */
    uint64_t peak_ns;
    uint64_t unknown_frees;
    uint64_t nodes;   /* reserved so far; node ids are 1..nodes */
    uint64_t sites;   /* likewise */
    uint64_t threads; /* all threads so far */
    uint64_t modules;
    uint64_t untracked[LEAK_UNTRACKED_MAX];
    /* unwind_check=N: call stacks compared with those of another unwinder; those that differ; those
       that end early, are marked truncated, and continue in the other unwinder */
    uint64_t unwind_checks, unwind_mismatches, unwind_stops;
    char host[64]; /* NUL-terminated */
    uint64_t
        sample; /* the option sample=: one byte in this many is sampled, and all counts of blocks
                        and bytes are estimates; 0 = every block is tracked */
    struct leak_request request; /* the only part that leakctl writes, too */
    uint64_t restricted_ns;      /* when a seccomp filter first forbade some calls; 0 = never */
};

/* ---- Chunks ------------------------------------------------------------------------------ */

enum leak_chunk_type {
    LEAK_CHUNK_PROCESS = 1, /* one struct leak_process */
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
    LEAK_CHUNK_OWN,        /* one struct leak_own, written when the process ends */
    LEAK_CHUNK_TAGS,       /* one struct leak_tags: tags of the program for its blocks */
    LEAK_CHUNK_POOLS,      /* array of struct leak_pool: names of pools in wrong frees */
    LEAK_CHUNK_FOLLOWED,   /* array of struct leak_followed: blocks that follow_blocks= names */
    LEAK_CHUNK_TEMPORARY, /* array of struct leak_temporary; the first one is for site chunk.first */
    LEAK_CHUNK_CODES,     /* struct leak_code, packed, 8-byte aligned: Python code in call stacks */
    LEAK_CHUNK_COUNTERS,  /* one struct leak_counters, if a single block is followed */
};
/* Readers skip chunk types they do not know. */

struct leak_chunk {
    uint32_t magic; /* publish: LEAK_CHUNK_MAGIC, written after the rest of this struct */
    uint32_t type;
    uint64_t offset; /* of this chunk in the file, so that no other page is mistaken for a chunk */
    uint64_t size;   /* whole pages, including this struct */
    uint64_t first;  /* id of the first record, for arrays that continue over chunks */
    uint64_t length; /* publish: payload bytes valid so far, for packed chunks (PROCESS, OPTIONS,
                        MODULES, SNAPSHOT, SUPPRESSIONS, CRASH, CODES). Arrays publish each record; their
                        length is the capacity in bytes (the pages may hold a few more records), 0 =
                        all of the payload */
    uint64_t reserved[3];
};
#define LEAK_SUPPRESSIONS_MAX (64u << 10) /* bytes of one text, without the origin */
/* If there is no valid chunk at an offset, the reader continues one page later. */

/* ---- Records ----------------------------------------------------------------------------- */

/* The memory of the runtime at exit: used = mapped + charged, otherwise some of it has no owner. */
struct leak_own {
    uint64_t used;    /* as counted against max_memory */
    uint64_t mapped;  /* the sum of the registered mappings */
    uint64_t charged; /* memory outside of these mappings: the recording file */
};

struct leak_process { /* followed by exe, NUL, cwd, NUL, and the argv strings, each with a NUL */
    uint32_t exe_length, cwd_length; /* without the NUL */
    uint32_t argc;                   /* strings recorded: a very long argv is truncated */
    uint32_t argv_length;            /* bytes of all strings, including NULs */
};

/* One generation of one mapped object. pc belongs to it if start <= pc < end; its address in the
 * ELF file is pc - bias. */
struct leak_module {
    uint32_t length; /* of this record, including the path, a multiple of 8 */
    uint32_t build_id_length;
    uint64_t start, end, bias;
    uint32_t loaded;   /* serial of the loader event that first showed it */
    uint32_t unloaded; /* serial of the event that showed it unloaded; 0 = still loaded */
    uint64_t loaded_ns, unloaded_ns;
    uint8_t build_id[LEAK_BUILD_ID_MAX];
    uint32_t path_length; /* without the NUL */
    char path[];          /* NUL-terminated, padded with NULs */
} __attribute__((aligned(8)));

struct leak_thread {
    uint32_t serial; /* publish: 1, 2, 3 ...: T1 is the main thread */
    int32_t tid;
    uint32_t started, ended; /* tick + 1; ended 0 = running */
    uint64_t allocations;    /* of this thread so far: the n of T1#n; with sample=, samples */
    /* Stack walks; all other call stacks came from the stack cache. */
    uint64_t walks;
    uint64_t frames_walked, frames_shared; /* unwound; verified equal to the previous walk */
    char name[LEAK_THREAD_NAME];
};

/* Roots of the calling-context tree. Ids of nodes below LEAK_NODE_FIRST are roots: they give the
 * reason why a call stack ends, and have no struct leak_node. A node whose pc is below
 * LEAK_KIND_PCS is no frame, and readers skip it: older writers made one for each site. What a
 * stack was captured for, its sort, is such a number: kind + (tag << LEAK_TAG_SHIFT), or
 * LEAK_PC_FREE. */
enum leak_root {
    LEAK_ROOT_NONE = 0,
    LEAK_ROOT_COMPLETE = 1,  /* the stack reaches the outermost frame */
    LEAK_ROOT_DEPTH = 2,     /* truncated at the option depth= */
    LEAK_ROOT_BROKEN = 3,    /* the next frame was not plausible */
    LEAK_ROOT_NO_RULE = 4,   /* a frame without usable unwind information: JIT, assembly */
    LEAK_ROOT_NO_STACKS = 5, /* site_stacks=off; a node below it is no frame, but stands for blocks
                                from before libleak was loaded: its pc is LEAK_OLDER_PC + their size,
                                beyond LEAK_OLDER_EXACT the largest size of a class */
    LEAK_ROOT_DISABLED = 6,  /* allocated while libleak was disabled (start=off, libleak_disable,
                                leakctl disable): no stack, and the blocks are never leaks */
    LEAK_NODE_FIRST = 8
};
#define LEAK_KIND_PCS 4096
#define LEAK_PC_FREE 4095 /* the call stack of a free */
#define LEAK_OLDER_PC LEAK_KIND_PCS
#define LEAK_OLDER_EXACT 1032
#define LEAK_TAG_SHIFT 3 /* kinds are 1 to 1 << LEAK_TAG_SHIFT */

/* Bits of leak_node.pc and leak_node.parent above these are private to the writer
 * (preload/contexts/context_tree.c). */
#define LEAK_PC_BITS 48
#define LEAK_PC_MOST ((1ull << LEAK_PC_BITS) - 1)
#define LEAK_NODE_BITS 26
#define LEAK_NODE_MOST ((1u << LEAK_NODE_BITS) - 1)

struct leak_node {
    uint64_t pc;     /* publish. Return address (its name is that of pc - 1), LEAK_PC_BITS of it */
    uint32_t parent; /* node of the caller, or a root: LEAK_NODE_BITS */
    uint32_t number; /* frame: serial of the last unload that covered pc before this node was made:
                        its module is the first generation around pc with loaded > number. With
                        LEAK_NODE_CODE: a Python frame, see struct leak_code */
};

/* A Python frame: the other bits of leak_node.number are the id of its code, 0 = not recorded; its pc
 * is LEAK_CODE_PC + the offset, in bytes, of the instruction in that code that was being executed. It
 * stands on the inner side of the C frame of the interpreter that executes it. */
#define LEAK_NODE_CODE 0x80000000u
#define LEAK_CODE_PC LEAK_KIND_PCS

/* X(NAME): how line numbers are encoded: 3.9's co_lnotab, and the co_linetable of later versions. */
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

/* The code of a Python function, class body or module, recorded when a call stack has it for the
 * first time. Two of equal content are one. */
#define LEAK_CODE_FILE 4096 /* bytes of a file name, at most */
#define LEAK_CODE_NAME 1024
#define LEAK_CODE_LINES 65536
struct leak_code {
    uint32_t length;      /* of this record, a multiple of 8 */
    uint32_t id;          /* 1, 2, 3 ... */
    uint32_t first_line;  /* of the definition */
    uint32_t line_table;  /* enum leak_line_table; NONE: it is too long, and lines are unknown */
    uint32_t file_length; /* of each part of "text" */
    uint32_t name_length;
    uint32_t lines_length;
    uint32_t reserved;
    char text[]; /* file name, NUL, qualified name, NUL, line table; both names in UTF-8, truncated
                    ones too */
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

/* CUSTOM and POOL: blocks of allocators of the program, annotated with libleak.h. */
enum leak_kind {
    LEAK_KIND_NONE = 0,
#define X(name, word) LEAK_KIND_##name,
    LEAK_KIND_TABLE(X)
#undef X
        LEAK_KIND_MAX
};

/* The function that releases a block. F(NAME, word) */
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

/* Tags that the program gives to its allocations (libleak_tag_push). They are never removed. Only
 * the recording of a program that uses tags has this chunk. */
#define LEAK_TAGS 510
#define LEAK_TAG_NAME 60
struct leak_tag {
    uint32_t length;          /* publish: of the name, 1 to LEAK_TAG_NAME - 1 */
    char name[LEAK_TAG_NAME]; /* NUL-terminated; a longer name is truncated */
};
struct leak_tags {
    uint64_t left_out; /* pushes of names for which there was no space */
    uint64_t reserved[7];
    struct leak_tag tag[LEAK_TAGS]; /* eight pages, including the chunk head */
};

/* The folded counts of an allocation site: one call stack, kind and tag. 64 bytes, one cache line,
 * which the hot path of an allocation never writes. */
struct leak_site {
    uint32_t node;                       /* publish: node of the innermost frame, or a root */
    uint8_t kind;                        /* enum leak_kind */
    uint8_t more_threads;                /* 1 = more threads allocated here than fit in threads[] */
    uint16_t tag;                        /* index + 1 in leak_tags.tag; 0 = none */
    uint32_t first;                      /* tick of the first allocation */
    uint32_t last;                       /* tick of the last one folded in */
    uint32_t lock;                       /* used by the writer only */
    uint32_t threads[LEAK_SITE_THREADS]; /* serials of threads that allocated here, 0 = none */
    struct leak_counts counts;
};

/* The places where the blocks of a site were freed: one record for each pair of allocation site and
 * call stack of the free. With free_stacks=sample and with sample=, "blocks" and "bytes" are
 * estimates. With free_stacks=sample a thread records its first free of a site, then one in ONE_IN,
 * and after MANY frees of that site one in ONE_IN_MANY; each recorded free also counts for those
 * not recorded since the one before. A thread that has freed blocks of SITES sites records the
 * first free of one further site in SITES_ONE_IN, and counts it as so many. The first free at a
 * place is recorded, too, and counts for one. With sample= each free of a sampled block is
 * recorded, and counts for as many blocks as the sample did. */
#define LEAK_FREED_FIRST 1
#define LEAK_FREED_ONE_IN 64
#define LEAK_FREED_MANY 4096
#define LEAK_FREED_ONE_IN_MANY 512
#define LEAK_FREED_SITES 8192
#define LEAK_FREED_SITES_ONE_IN 8
struct leak_freed {
    uint32_t site; /* publish */
    uint32_t node; /* the innermost frame of the free, or a root */
    uint64_t blocks, bytes;
};

/* Blocks of a site that the thread that allocated them freed before it had allocated ALLOCATIONS
 * more blocks. They are a part of the frees that leak_freed counts, and as exact. The initial value
 * is zero, so no word is published. */
#define LEAK_TEMPORARY_ALLOCATIONS 4
struct leak_temporary {
    uint64_t blocks, bytes;
};

/* A ring buffer of the last frees of one thread: next - 1 is the newest. Only the owner writes,
 * with plain stores; an entry that is being written may be a mixture of the old and the new one. */
#define LEAK_RECENT_UNIT 16
#define LEAK_RECENT 124 /* one page, including the chunk head */
struct leak_recent_free {
    uint64_t address;
    uint64_t pc;   /* return address of the free … */
    uint32_t node; /* … and its innermost frame; 0 = call stack not recorded, only pc is known */
    uint32_t site; /* of the allocation */
    uint32_t tick;
    uint32_t
        size_form; /* high 24 bits: size of the block in units of LEAK_RECENT_UNIT, rounded up (all
                           ones = that or more); low 8 bits: enum leak_form */
};
struct leak_recent {
    uint32_t thread;      /* serial of the owner; 0 = the owner has ended, the entries remain */
    uint32_t last_thread; /* serial of the last owner */
    uint64_t next;        /* frees so far */
    uint64_t captures;    /* call stacks captured for frees, by all owners of this ring */
    uint64_t reserved[5];
    struct leak_recent_free free[LEAK_RECENT];
};

/* With sample=: the variance of the counts of live blocks of a site. A block of s bytes is sampled
 * with probability p = 1 - exp(-(s + 1) / sample) and counted as floor(1/p) blocks or, with
 * probability f = frac(1/p), as one more. It adds v = (1 - p) / p^2 + f (1 - f) to the variance of
 * the blocks, and v s^2 to the variance of the bytes. Each word is a sum over live samples, changed
 * by atomic addition and subtraction modulo 2^64. The initial value is zero, so no word is
 * published. */
#define LEAK_VARIANCE_BLOCKS 0x1p8 /* "blocks" is in units of 1/256 */
#define LEAK_VARIANCE_BYTES 0x1p32 /* "bytes" is in units of sample^2 / 2^32 */
struct leak_variance {
    uint64_t samples; /* live ones */
    uint64_t blocks, bytes;
    uint64_t reserved;
};

/* The counters of one thread for one site. A slot is valid if site != 0. Only the owner writes,
 * with plain stores. */
struct leak_slot {
    uint32_t site; /* publish */
    uint32_t last; /* tick of the last allocation */
    struct leak_counts counts;
};

/* The slots of one thread. A slot is folded into its site in these steps: (1) the sum of both is
 * written to "fold"; (2) fold_site, one word, is set to the site: from then on the sum in "fold"
 * replaces site.counts, and the slot does not count; (3) the sum is copied to the site and the slot
 * is cleared; (4) fold_site is set to 0. So at every instant a reader finds each count exactly
 * once:
 *     folded(site) = fold of the one thread whose fold_site is the site, else site.counts */
struct leak_slots {
    uint32_t thread;    /* serial of the owner; 0 = no owner, every slot is empty */
    uint32_t count;     /* slots that follow */
    uint32_t fold_site; /* publish */
    uint32_t fold_slot; /* index of the slot that is folded */
    struct leak_counts fold;
    uint64_t reserved[2];
    struct leak_slot slot[];
};

/* ---- Misuse -------------------------------------------------------------------------------
 *
 * Wrong frees. One record counts all wrong frees that have the same type, form, call stack and
 * allocation site. The record is written before the wrong call continues. */

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

/* INVALID_FREE: what is at the address. W(NAME, words) */
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

/* All fields but the counts describe the first wrong free of the record. */
struct leak_event {
    uint32_t type;         /* publish: enum leak_event_type */
    uint8_t form;          /* enum leak_form: of the wrong call */
    uint8_t place;         /* enum leak_place */
    uint16_t block_thread; /* low bits of the serial of the thread that allocated the block … */
    uint32_t block_count; /* … and its number among the allocations of that thread; 0 = unknown */
    uint32_t site;        /* of the block; 0 = no block */
    uint64_t address;     /* argument of the call */
    int64_t offset;       /* of the address from the start of the block */
    uint64_t size;        /* of the block */
    uint64_t said;        /* size or alignment in the call … */
    uint64_t right;       /* … and the real alignment; 0 = unknown, or more than 2^18 */
    uint64_t pc;          /* return address of the call … */
    uint32_t node;        /* … and its innermost frame */
    uint32_t thread;      /* serial; 0 = unknown */
    uint32_t tick, last_tick;
    uint64_t count;
    /* DOUBLE_FREE: the first free of the block, as in struct leak_recent_free. */
    uint64_t freed_pc;
    uint32_t freed_node, freed_thread, freed_tick, freed_form;
    /* Numbers of struct leak_pool: the pool of the block, and the pool in the call; 0 = no name. */
    uint32_t block_pool, call_pool;
    uint64_t reserved[1];
};

#define LEAK_EVENTS 254 /* eight pages, including the chunk head */
struct leak_events {
    uint64_t left_out; /* wrong frees for which there was no space */
    uint64_t reserved[15];
    struct leak_event event[LEAK_EVENTS];
};

/* The name of a pool of the program. */
#define LEAK_POOL_NAME 56
#define LEAK_POOLS 63 /* one page, including the chunk head: further pools have no name */
struct leak_pool {
    uint32_t number; /* publish: 1, 2, 3 … */
    uint32_t reserved;
    char name[LEAK_POOL_NAME]; /* NUL-terminated; a longer name is truncated */
};

/* ---- Resources: descriptors, files, mappings, libraries, threads ------------------------------
 *
 * One record for each open resource, unordered; records are reused. A writer clears the state,
 * fills the record, and stores the state last. */

/* The kinds of resources, a row each: X(NAME, word, noun, plural, title, sentence, remedy)
 *   word       of the option track= and of reports
 *   title ...  of the rule in SARIF reports */
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
    LEAK_RESOURCE_FREE = 0,
    LEAK_RESOURCE_OPEN,
    LEAK_RESOURCE_CLOSED,    /* only inside the runtime, never in a recording file */
    LEAK_RESOURCE_BAD_CLOSE, /* FD: a close of a number that was not open */
    LEAK_RESOURCE_TOTALS,    /* the record is a struct leak_resource_totals */
    LEAK_RESOURCE_RELEASED,  /* "count" of this type were opened by stack "opened" and released by
                                stack "closed" */
};

enum leak_resource_flag {
    LEAK_RESOURCE_INHERITED = 1, /* open when the process started: inherited */
    LEAK_RESOURCE_CUT = 2,       /* the name is truncated: its beginning is missing */
    LEAK_RESOURCE_PENDING = 4,   /* DL: dlopen has not returned yet */
    LEAK_RESOURCE_NEVER = 8,     /* BAD_CLOSE: the number was never open */
    LEAK_RESOURCE_SWEEP = 16,    /* BAD_CLOSE: this call stack closes all descriptor numbers */
    LEAK_RESOURCE_TAKEN = 32,    /* BAD_CLOSE: the number belonged to another open by then */
    LEAK_RESOURCE_SECOND = 64, /* FD: created together with another one: the other end of a pipe */
};

/* X(NAME, words): the origin of a resource; reports show it if there is no name */
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
    LEAK_NAME_PEER,  /* a struct sockaddr: the peer of a socket … */
    LEAK_NAME_LOCAL, /* … or its local address */
};

/* Call stack, thread and time of an event. */
struct leak_mark {
    uint32_t node;   /* innermost frame, or a root; LEAK_ROOT_NONE = not observed */
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
    uint32_t count;    /* DL: number of opens by this stack. BAD_CLOSE: number of closes. Else 1 */
    uint32_t name_length;
    uint64_t id;    /* FD, BAD_CLOSE: descriptor number; else an address */
    uint64_t bytes; /* MMAP, PAIR: size; of a PAIR 0 = unknown. THREAD: serial */
    uint64_t owner; /* used by the runtime only: the FILE or DIR that a descriptor belongs to */
    struct leak_mark opened;
    struct leak_mark closed, again; /* BAD_CLOSE: the valid close, and this one */
    int32_t fd;                     /* FILE, DIR: its descriptor, -1 = none */
    char name[LEAK_RESOURCE_NAME];
};

/* Totals, in the place of one struct leak_resource. */
struct leak_resource_totals {
    uint32_t state; /* publish: LEAK_RESOURCE_TOTALS */
    uint32_t reserved;
    uint64_t
        opened[16];  /* by enum leak_resource_type: all opens of this process; in versions 1 and 2
                            8 of them, and then "missed" */
    uint64_t missed; /* resources for which there was no space or no memory */
    uint64_t rest[2];
};

/* ---- History --------------------------------------------------------------------------------
 *
 * The size of the heap, and of the sites that hold most of it, over time. The history has a fixed
 * number of entries. When all are used, the entry whose neighbours are closest together for their
 * age is overwritten (docs/GROWTH.md), so points and rows are unordered; each has its time. One
 * process writes, under a lock; an entry that is being written has tick 0. */

#define LEAK_HISTORY_POINTS 256
#define LEAK_HISTORY_COLUMNS 126
#define LEAK_HISTORY_ROWS 64
#define LEAK_ROWS_A_CHUNK 8 /* a row is a page, and a second; rows are added when they are needed */
#define LEAK_PEAK_SITES 124

struct leak_point {
    uint32_t tick; /* publish: tick + 1 */
    uint32_t reserved;
    uint64_t live_bytes, live_blocks;
};

/* Column i: entry i of each row written at "since" or later belongs to this site. */
struct leak_column {
    uint32_t site; /* publish */
    uint32_t since;
    uint64_t peak; /* maximum of live bytes over all rows */
    uint64_t
        freed_age; /* estimate of the sum of the lifetimes of its freed blocks, in ticks; 0 with
                           free_stacks=off */
    uint64_t reserved;
};

struct leak_row_entry {
    uint64_t allocs, frees, live_bytes;
    uint64_t freed_age; /* the value in the column at that time */
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

/* The live blocks at the peak of the heap. It is written when the heap begins to shrink, if the
 * peak is at least 1/128 larger than the one written before. The peak of a process that dies at its
 * peak is not written: it is the set of live blocks. */
struct leak_peak {
    uint32_t
        number; /* publish: of the two peaks the one with the higher number is valid; 0 = none */
    uint32_t tick;
    uint32_t count; /* entries in site[]: the sites that held most, unordered */
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
    uint64_t limit;    /* memory limit of this process when it started, in bytes; 0 = none */
    uint32_t limit_of; /* enum leak_limit */
    uint32_t reserved[13];
    struct leak_column column[LEAK_HISTORY_COLUMNS];
    struct leak_point point[LEAK_HISTORY_POINTS];
    struct leak_peak peak[2]; /* written alternately */
};

/* ---- Milestones ------------------------------------------------------------------------------
 *
 * A milestone divides the blocks of a process into older and newer ones: a mark, which has a name,
 * or a requested leak check. Each milestone starts a new tick, so a block is newer than a milestone
 * if its tick is not lower. When all entries are used, the oldest one is overwritten. The last
 * entry is reserved for the newest milestone with is_known. */

#define LEAK_MILESTONES 63
#define LEAK_MILESTONE_KNOWN "reported"
struct leak_milestone {
    uint32_t number; /* publish: 1, 2, 3 …; 0 while it is being written */
    uint32_t tick;
    uint64_t when_ns;
    uint32_t is_look;  /* 1: a leak check; its name is empty */
    uint32_t is_known; /* 1: older blocks are known (libleak_mark_reported), and shown only with
                          --reported; its name is LEAK_MILESTONE_KNOWN */
    uint32_t reserved[2];
    char name[LEAK_MILESTONE_NAME]; /* NUL-terminated; of equal names the newest counts */
};

/* ---- Leak checks ---------------------------------------------------------------------------
 *
 * A leak check writes one SNAPSHOT chunk, published at once by its length: a head, and tables of
 * fixed records, each at its offset in the payload. The child process of the leak check writes it
 * (or, if no leak check was possible, the process itself). The newest leak check counts. It may
 * come before an older one in the file, because two chunks are written alternately. At exit, EARLY
 * may be followed by LATE, which then counts for both.
 *
 * Blocks that the tables do not contain (allocated after the leak check) are "unfreed" for a
 * reader:
 *     live(site) = sum of found.blocks of that site + blocks allocated since - blocks freed
 * since. */

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

/* Whether the world was stopped while the process forked its snapshot. */
enum leak_rung {
    LEAK_RUNG_NONE =
        0, /* no leak check was possible: "trouble" gives the reason, the tables are empty */
    LEAK_RUNG_UNSTOPPED, /* threads kept running: lost is only what is lost in two snapshots */
    LEAK_RUNG_PARKED,    /* all threads were stopped */
};

/* The reason for a leak check. X(NAME, words) */
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

/* A table in the payload: "count" records, the first one "at" bytes after the chunk head. */
struct leak_table {
    uint32_t at, count;
};

/* The address of leakctl who, and the block that contains it. Size 0 and site 0: no block does. */
struct leak_asked {
    uint64_t address; /* 0: none */
    uint64_t block, size;
    uint32_t site, found; /* found: index + 1 */
    uint32_t count, tick;
    uint16_t thread, reserved[3];
};

struct leak_snapshot {
    uint32_t head_size; /* sizeof(struct leak_snapshot) */
    uint8_t rung, occasion, trouble;
    uint8_t unreadable; /* pages without access that were read as zeros; 255: as many or more */
    uint64_t when_ns;
    uint32_t tick;
    uint32_t sites;    /* header.sites at that time: higher ids are newer than the leak check */
    uint64_t pause_ns; /* from the first thread stopped to the last one resumed */
    uint64_t check_ns; /* time of the analysis in the child process */
    uint32_t threads_parked, threads_missed; /* without the thread that made the leak check */
    uint32_t skipped;          /* periodic leak checks skipped so far because of pause_budget */
    uint16_t retained_unknown; /* 1: no memory to compute it; "retained" of reachable ones is 0 */
    uint16_t uncleared; /* blocks that may contain words of older ones (fill=auto), at most 255 */
    struct leak_table found;   /* struct leak_found, unordered */
    struct leak_table roots;   /* struct leak_held: the roots that keep most alive, unordered */
    struct leak_table steps;   /* struct leak_step: paths */
    struct leak_table samples; /* struct leak_sample */
    struct leak_table threads; /* struct leak_seen_thread: the threads of the process */
    struct leak_table pcs;     /* uint64_t: the call stacks of the threads, innermost frame first */
    struct leak_table modules; /* struct leak_module, packed: "count" is bytes. Objects whose data
                                  contains roots; loaded and unloaded are 0 */
    struct leak_table contents; /* uint8_t: first bytes of the samples (option content=) */
    struct leak_table orphans;  /* struct leak_orphan, ascending by the time of the last free */
    struct leak_table ages;     /* struct leak_age, unordered */
    struct leak_table pointers; /* struct leak_pointer: the answer to WHO */
    struct leak_asked asked;    /* the address of WHO, and its block */
    uint32_t milestone;         /* number of the milestone of this leak check; 0 = none */
    uint32_t
        apart; /* LEAK_PAGEs of private memory that the program mapped itself: no file, no stack,
                       and no tracked block in it */
    struct leak_table parts;     /* struct leak_part, unordered */
    struct leak_table interiors; /* struct leak_interior, unordered. Recordings made before there
                                    was this table have a head that ends before it, … */
    struct leak_table losses;    /* struct leak_loss, unordered … or before this one */
    uint64_t after_ns;           /* when_ns of the leak check before this one, 0 = this is the
                                    first; EARLY and LATE are one */
};

/* The times at which LOST or INDIRECT blocks of one site were lost: the two leak checks between
 * which their number first became more than 0, and the two between which it last rose. after_ns 0:
 * before the first leak check. */
struct leak_loss {
    uint32_t site, reserved;
    struct leak_loss_span {
        uint64_t after_ns, by_ns; /* when_ns of a leak check, and of the next one */
    } first, last;
};

/* The blocks of one struct leak_found that were allocated at this milestone or later, and before
 * the next one. Blocks in no leak_age are older than all milestones. */
struct leak_age {
    uint32_t found;     /* index in "found" */
    uint32_t milestone; /* its number */
    uint64_t blocks, bytes;
};

/* Blocks of one struct leak_found that are POSSIBLE or have LEAK_FOUND_HEADER: where the pointers
 * that hold them point, and where they stand. There is a limit; rows above it are left out. */
struct leak_interior {
    uint32_t found;  /* index in "found" */
    uint32_t holder; /* site of the blocks with these pointers; 0 = they are in roots */
    uint64_t offset; /* from the start of the block; 0 = to its start, or unknown */
    uint64_t blocks;
};

#define LEAK_POINTERS 1024 /* limit: with as many, there may be more pointers */

/* A word that contains a pointer into the block of leakctl who. */
struct leak_pointer {
    uint64_t address;     /* of the word */
    uint64_t offset;      /* of the pointer's target from the start of that block */
    uint64_t block, size; /* the block that contains the word … */
    uint32_t site;        /* … and its site; 0 = the word is in a root */
    uint32_t root;        /* index + 1 in "roots"; 0 = in a block, or not recorded */
};

/* Live blocks of one site to which blocks of another site pointed when those were freed. Only a
 * sample of frees is examined, and only the last few of such live blocks are recorded. */
struct leak_orphan {
    uint32_t site;
    uint32_t holder;  /* site of the freed blocks, the former owners */
    uint32_t node;    /* innermost frame of the free, or a root */
    uint32_t blocks;  /* recorded ones that are lost or indirect; may be 0 */
    uint64_t address; /* of one live block */
};

enum leak_found_flag {
    LEAK_FOUND_CYCLE = 1, /* a reference cycle; "blocks" counts one leader of each cycle, the other
                               blocks are INDIRECT under it */
    LEAK_FOUND_DROPPED =
        2, /* REACHABLE: reachable before the exit handlers ran, not reachable after
                               them */
    LEAK_FOUND_IGNORED = 4, /* REACHABLE: the program ignores these blocks (libleak_ignore) */
    LEAK_FOUND_SHARED = 8,  /* INDIRECT: under several records; "owner" is one of them */
    LEAK_FOUND_TAGGED =
        16, /* POSSIBLE: by an unaligned pointer to one of the first 15 bytes: its low
                               bits may be a tag */
    LEAK_FOUND_HEADER = 32, /* REACHABLE: by a pointer behind a header, as all blocks like it */
};

/* Blocks of one site with one verdict, flags and owner. */
struct leak_found {
    uint32_t site;
    uint8_t verdict; /* enum leak_verdict */
    uint8_t flags;   /* enum leak_found_flag */
    uint16_t reserved;
    uint32_t owner;       /* INDIRECT: index + 1 in "found" of the lost record that owns it */
    uint32_t first, last; /* ticks of the oldest and of the newest block */
    uint32_t root; /* REACHABLE: index + 1 in "roots" of the start of the path; 0 = not recorded */
    struct {
        uint32_t first, count; /* indices in "steps": the path to the largest block; the last step
                                  leads to the block itself */
    } path;
    struct {
        uint32_t first, count; /* indices in "samples": its largest blocks */
    } sample;
    uint64_t blocks, bytes;
    uint64_t retained_blocks,
        retained_bytes; /* would be released with these blocks, including them */
};

/* The classes of roots, a row each: X(NAME, word) */
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
    uint64_t address; /* of the word; REGISTERS: 0 */
    uint64_t start,
        size;    /* of the memory that contains it: data of a module, stack, mapping, user region */
    uint64_t pc; /* STACKS: an address in the function whose frame contains the word; 0 = unknown */
    uint64_t cfa;       /* STACKS: the canonical frame address of that frame */
    uint32_t thread;    /* STACKS, REGISTERS, TLS: serial; 0 = a thread that never allocated */
    uint8_t root_class; /* enum leak_root_class */
    uint8_t reserved;
    uint16_t key;           /* TLS: the word is the value of pthread key key - 1 */
    int64_t tls_offset;     /* TLS: of the word from the thread pointer */
    uint64_t blocks, bytes; /* whose shortest path starts at this root */
};

/* The blocks of one site whose shortest path starts at one root. For few roots with very many
 * sites, some sites are left out. */
struct leak_part {
    uint32_t root; /* index + 1 in "roots" */
    uint32_t site;
    uint64_t blocks, bytes;
};

/* One step of a path: the word at +offset of the previous block (0 for the root word) points to
 * +into of a block of "size" bytes from this site. Site 0: some steps are left out here. */
struct leak_step {
    uint64_t offset;
    uint64_t size;
    uint32_t site;
    uint32_t into;
};

struct leak_sample {
    uint64_t address, size;
    uint32_t count;  /* number among the allocations of its thread */
    uint16_t thread; /* low bits of its serial */
    uint16_t reserved;
    uint32_t tick;
    struct {
        uint32_t first, count; /* indices in "contents": its first bytes */
    } content;
    uint32_t unused;
};

/* ---- Followed blocks ------------------------------------------------------------------------
 *
 * With follow_blocks= the process looks at each allocation and each free whether the word that
 * holds the address of such a block still does, and else searches another one. What remains is
 * where the last word was overwritten or left. */

#define LEAK_FOLLOWED_MOST 4
#define LEAK_FOLLOWED_FRAMES 48

enum leak_followed_state {
    LEAK_FOLLOWED_NONE = 0, /* not allocated so far */
    LEAK_FOLLOWED_HELD,     /* a word held it when the record was written */
    LEAK_FOLLOWED_LOST,
    LEAK_FOLLOWED_FREED,
    LEAK_FOLLOWED_UNKNOWN, /* no leak check was possible, or too many were needed */
};

/* A word that holds the address of the block, or one inside it. */
struct leak_holder {
    struct leak_held word; /* of a word in a block: only the address */
    uint64_t block, size;  /* the block that contains the word; 0 = the word is a root */
    uint32_t site;         /* of that block */
    uint32_t into;         /* offset of the address from the start of the followed block */
};

/* The word held the block at one call of an allocation function and no longer at a later one. */
struct leak_drop {
    uint32_t event;         /* number of the second call, counted from the block's allocation; 0 =
                               nothing is recorded here */
    uint32_t before, after; /* nodes of the two calls */
    uint32_t frame_count;   /* 0 = the instruction is not known */
    uint64_t frames[LEAK_FOLLOWED_FRAMES]; /* innermost first; each like a return address */
    struct leak_holder holder;             /* root_class 0 and block 0: no word was found */
    uint64_t jump_from, jump_to;           /* the last jump before the instruction; 0 = not known */
    uint32_t since;                        /* the event from which on only stacks held it */
    uint32_t late;                         /* 1: the instruction is behind the second call */
};

/* The last instruction that read or wrote one of the first words of the block. */
struct leak_use {
    uint32_t frame_count; /* 0 = none is known */
    uint32_t bytes;       /* of the block that were watched */
    uint32_t event;       /* allocations and frees until then */
    uint32_t reserved;
    uint64_t frames[LEAK_FOLLOWED_FRAMES]; /* as above */
};

struct leak_followed {
    uint32_t thread, count; /* its serial */
    uint32_t state;         /* enum leak_followed_state */
    uint32_t site;
    uint64_t address, size;
    uint32_t events;         /* allocations and frees since its own */
    uint32_t searches;       /* leak checks that were needed */
    struct leak_drop stored; /* the last word outside of stacks and registers */
    struct leak_drop last;   /* the last word of all, if the block is lost */
    struct leak_use used;    /* if it is the only block that is followed */
};

/* The words of 4 bytes at the start of the block that is followed: is one a reference count? */
#define LEAK_COUNTERS 6
#define LEAK_COUNTINGS_MOST 64
#define LEAK_COUNTING_FRAMES 8

struct leak_counter {
    uint32_t changes; /* after its first value */
    uint32_t is_none; /* 1: one of them was not by one, or has no record below */
    int32_t first, value, most;
    uint32_t reserved;
};

/* Instructions that changed such a word, all with the same innermost frames. */
struct leak_counting {
    uint32_t frame_count; /* publish; 0: this record and those behind it are free */
    uint16_t word;        /* index of the counter */
    int16_t by;           /* 1 or -1; 0: gave it its first value */
    uint32_t times;
    uint32_t reserved;
    uint64_t frames[LEAK_COUNTING_FRAMES]; /* as above */
};

struct leak_counters {
    struct leak_counter words[LEAK_COUNTERS];
    struct leak_counting countings[LEAK_COUNTINGS_MOST];
};

struct leak_seen_thread {
    uint32_t serial; /* 0 = a thread that never allocated */
    int32_t tid;
    uint8_t parked, taker; /* taker: this thread made the leak check */
    uint8_t reserved[6];
    struct {
        uint32_t first, count; /* indices in "pcs" */
    } stack;
    char name[LEAK_THREAD_NAME];
};

/* ---- Crashes -------------------------------------------------------------------------------
 *
 * The thread that dies writes it, on a stack of libleak, without locks and without allocating
 * memory. There is one for each process: a later crash overwrites the one before. It is published
 * in steps by the length of the chunk: first the head, then frames and nearby blocks, last the
 * modules. */

enum leak_crash_state {
    LEAK_CRASH_NONE = 0, /* being written */
    LEAK_CRASH_HANDED,   /* SIGABRT was passed to a handler of the program: a crash if it then
                            killed the process */
    LEAK_CRASH_FATAL,    /* the default action followed */
};

enum leak_crash_flag {
    LEAK_CRASH_OVERFLOW = 1,     /* stack overflow */
    LEAK_CRASH_HAS_ADDRESS = 2,  /* "address" is the address of the failed access */
    LEAK_CRASH_IN_LIBLEAK = 4,   /* the thread was in a hook of libleak … */
    LEAK_CRASH_IN_ALLOCATOR = 8, /* … or, called by it, in the program's allocator */
    LEAK_CRASH_LOOK = 16,        /* a leak check was running */
    LEAK_CRASH_BLOCKS_BUSY =
        32,                 /* a part of the block table was being changed: blocks in that part are
                                    not recorded */
    LEAK_CRASH_CALLED = 64, /* pc is no code: the frames begin with its caller */
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
    uint32_t site, count; /* count: number among the allocations of its thread */
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
    uint64_t start, end;        /* end 0: none */
    uint32_t flags;             /* enum leak_mapping_flag */
    char path[LEAK_CRASH_PATH]; /* NUL-terminated; of a longer path its end */
    uint32_t reserved;
};

/* One frame of a crash; or the last of "period" frames that are repeated "times" more times. */
struct leak_crash_frame {
    uint64_t pc; /* as in leak_node: its name is that of pc - 1 */
    uint32_t period, times;
};

#define LEAK_CRASH_REGISTERS 40
#define LEAK_CRASH_FRAMES 192
#define LEAK_CRASH_OUTER 32
struct leak_crash {
    uint32_t head_size;   /* sizeof(struct leak_crash) */
    uint32_t state;       /* publish: enum leak_crash_state */
    int32_t signal, code; /* si_signo, si_code */
    int32_t sender;       /* pid of the sender, for a signal that was sent */
    uint32_t sender_uid;
    uint32_t flags;  /* enum leak_crash_flag */
    uint32_t access; /* enum leak_access */
    uint64_t address, pc, sp;
    uint64_t when_ns;
    uint32_t tick;
    uint32_t thread; /* serial; 0 = a thread that never allocated */
    int32_t tid;
    uint32_t register_count;
    uint64_t registers[LEAK_CRASH_REGISTERS]; /* in the order of the kernel, without pc */
    char name[LEAK_THREAD_NAME];              /* of the thread */

    struct leak_crash_mapping at, below, above; /* of address; its neighbours */
    struct leak_crash_mapping stack;            /* that contains sp, or is just above it */
    struct leak_crash_near near[1 + LEAK_CRASH_REGISTERS]; /* of address; of each register */

    uint64_t depth;  /* number of frames */
    uint32_t ending; /* enum leak_root */
    uint32_t frame_count, outer_count;
    uint32_t reserved;
    struct leak_crash_frame frames[LEAK_CRASH_FRAMES]; /* innermost first */
    uint64_t
        outer[LEAK_CRASH_OUTER]; /* the outermost frames, if there are more than fit in "frames" */
    uint64_t left_out;           /* number of frames between frames[] and outer[] */
    struct leak_table modules;   /* struct leak_module, packed: "count" is bytes; loaded and
                                         unloaded are 0 */
};

/* ---- Layout ---------------------------------------------------------------------------------- */

/* Readers of other versions rely on these sizes. An intended change also needs a new
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
LEAK_LAYOUT(counters, 5264)
LEAK_LAYOUT(seen_thread, 40)
LEAK_LAYOUT(crash_near, 40)
LEAK_LAYOUT(crash_mapping, 152)
LEAK_LAYOUT(crash_frame, 16)
LEAK_LAYOUT(crash, 6032)
#undef LEAK_LAYOUT

/* When a table grows, its counters must grow with it. */
LEAK_ASSERT(
    LEAK_RESOURCE_MAX <= sizeof(((struct leak_resource_totals *)0)->opened) / 8,
    "leak_store.h: leak_resource_totals.opened has no counter for the new kind of resource");
LEAK_ASSERT(LEAK_KIND_MAX - 1 <= 0xff && LEAK_SORT_MAX - 1 <= 0xff && LEAK_RESOURCE_MAX - 1 <= 0xff,
            "leak_store.h: kinds, sorts and types are written as one byte");
LEAK_ASSERT(LEAK_VERDICT_MAX - 1 <= 0xff && LEAK_ROOT_CLASS_MAX - 1 <= 0xff,
            "leak_store.h: verdicts and classes of roots are written as one byte");

#endif
