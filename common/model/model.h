/* model.h - the content of a report, ready to be written.
 *
 * report -> processes -> records -> frames. Plain data, complete and sorted: the writer of a format
 * is a pure function of it. Texts may contain any bytes (paths, names of hostile programs): writers
 * escape them. Unknown texts are NULL, unknown times 0; everything lives in one arena.
 */
#ifndef COMMON_MODEL_MODEL_H
#define COMMON_MODEL_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/model/growth.h"

/* The verdicts. V(NAME, word on the terminal and in JSON, words in the headline of a record) */
#define VERDICT_TABLE(V)                                                                           \
    V(LOST, "lost", "lost")                                                                        \
    V(INDIRECT, "indirect", "indirectly lost")                                                     \
    V(POSSIBLE, "possible", "possibly lost")                                                       \
    V(HIDDEN, "hidden", "held by a hidden pointer")                                                \
    V(REACHABLE, "reachable", "still reachable")                                                   \
    V(RUNTIME, "runtime", "kept by the C and C++ runtime")                                         \
    V(UNFREED, "unfreed", "unfreed")

enum verdict {
#define V(name, word, words) VERDICT_##name,
    VERDICT_TABLE(V)
#undef V
        VERDICT_MAX
};

extern const char *const verdict_word[VERDICT_MAX];
extern const char *const verdict_words[VERDICT_MAX];

extern const char *const kind_word[]; /* index: enum leak_kind or KIND_OLDER */
/* Kind of a block that was allocated before libleak was loaded. */
#define KIND_OLDER LEAK_KIND_MAX
#define KIND_MAX (LEAK_KIND_MAX + 1)
extern const char *const form_word[];       /* index: enum leak_form; NULL = unknown */
extern const char *const bad_free_word[];   /* index: enum leak_event_type */
extern const char *const root_class_word[]; /* index: enum leak_root_class; NULL = unknown */
extern const char *const resource_word[];   /* index: enum leak_resource_type */

enum end_how { END_EXIT, END_SIGNAL, END_EXEC, END_RUNNING, END_LOST };
extern const char *const end_word[];

enum frame_role {
    FRAME_USER,      /* presumably code of the user */
    FRAME_RUNTIME,   /* code of the C and C++ libraries, and start-up code */
    FRAME_WRAPPER,   /* xmalloc, my_strdup: code of the user that only passes a size on */
    FRAME_ALLOCATOR, /* malloc, operator new ...: never the headline of a record */
};

struct frame {
    const char *function; /* demangled name, NULL = unknown */
    const char *symbol;   /* mangled name if it differs from `function`, else NULL */
    const char *file;
    uint32_t line, column; /* 0 = unknown */
    const char *module;    /* path of the file that has the code, NULL = the address is in no
                            * module */
    const char *build_id;  /* build ID of the module in hex digits, NULL = none */
    uint64_t offset;       /* address in the module as the linker numbered it; in no module: the
                            * return address itself */
    bool has_offset;
    bool inlined; /* the compiler inlined this function into the function of the next frame */
    bool python;  /* a Python function; it has no module */
    enum frame_role role;
    uint64_t name_hash; /* hash of function name and module's base name (empty for the
                         * executable); signatures are made of it */
};

struct thread_ref {
    uint32_t serial;
    const char *name;
};

/* Sampling error of sums over a sampled process: half the width of the 95 % confidence interval,
 * and the number of live samples. All zero: the sums are exact. */
struct error {
    uint64_t bytes, blocks;
    uint64_t samples;
};

/* The largest number of places of frees that a report shows for a record. Places whose stacks agree
 * best with the stack of the record come first. */
#define FREED_PLACES 3

struct freed_place {
    const struct frame *frame;  /* frame of the user's code that freed the block */
    const struct frame *common; /* innermost function in both the record's stack and the stack of
                                 * the free, at the line of its call; NULL = none */
    const struct frame *below;  /* function of the user that `common` calls to free the block;
                                 * NULL = `common` frees it itself */
    size_t inner; /* number of the user's functions in the record's stack between the allocation
                   * and `common`; if there are more than COMMON_NEAR (8), common is NULL */
    bool close;   /* `common` is most likely the function to fix: `inner` is at most COMMON_CLOSE
                   * (3), and it does not only hand the blocks on (free_sites.c) */
    double share; /* part of the sampled frees that happened at this place, 0 to 1 */
};

/* The places where other blocks with a record's stacks were freed. Blocks that realloc moved,
 * and blocks that the allocating line itself freed, are left out. */
struct freed {
    uint64_t blocks;    /* blocks with the record's stacks that were freed anywhere */
    uint64_t allocated; /* blocks that the record's stacks allocated, without blocks that realloc
                         * moved; 0 = unknown */
    struct freed_place place[FREED_PLACES];
    size_t places; /* number of entries in place[]; 0 = nothing is known */
    size_t most;   /* index of the most frequent place */
    /* the places are those of blocks of other stacks with the same user frame, because no block of
     * the record's own stacks was freed */
    bool other_path;
    bool exact;   /* every free was recorded; else the shares are estimates */
    bool enough;  /* enough frees were recorded to report the shares */
    bool sampled; /* the process was sampled: `blocks` and `of` are estimates */
    double late;  /* part of the sampled frees that happened while the program exited, 0 to 1 */
    uint64_t of;  /* the number of frees that the shares refer to, 0 = unknown */
    const struct frame *const *frames; /* the most frequent stack of place[0] */
    size_t frame_count;
};

/* Blocks of a record that were lost when a block with a pointer to them, their holder, was
 * freed. */
struct orphaned {
    uint64_t blocks;                   /* number of blocks that were lost in this way */
    const struct frame *holder;        /* function that allocated the holder, NULL = unknown */
    const struct frame *const *frames; /* stack of the call that freed the holder */
    size_t frame_count, user;          /* user: index of the freeing function in frames[]; user <
                                        * frame_count unless blocks is 0 */
};

struct verdict_total {
    uint64_t bytes, blocks, records;
};

/* A suppression of a known leak, see rules.h. */
struct rule {
    const char *text;    /* "leak:pattern", or the rule's name */
    const char *where;   /* where the rule stands: "FILE:LINE" */
    const char *reason;  /* why the leak is accepted, in the user's words; NULL = none */
    const char *expires; /* last day on which the rule holds: "2027-01-31"; NULL = for ever */
    const char *managed; /* memory manager that the blocks belong to, so that no leak check can
                          * judge them: "ruby's garbage collector"; NULL = none */
    bool built_in;
};

struct rule_use {
    const struct rule *rule;
    struct verdict_total total; /* the blocks that the rule suppressed */
};

/* A word outside the heap that points to blocks. */
struct root {
    const char *words;    /* description: "g_cache (cache.c:12)", "a stack slot of f() (T1)" */
    uint32_t class;       /* enum leak_root_class */
    const char *variable; /* name of the variable that contains the word; NULL = unknown */
    const char *function; /* class STACKS: function of the frame; static local variable: function
                           * that declares it; NULL = unknown */
    const char *file;
    uint32_t line;
    const char *module;       /* path of the module that has the variable; NULL = unknown */
    struct thread_ref thread; /* thread of a stack or register; serial 0 = no thread, or one that
                               * never allocated */
    uint64_t offset;          /* offset of the word in the variable, or without variable in the
                               * module or mapping */
    bool has_offset;
};

/* One step of a path to a block: "The word at +offset of the previous block (first step: of the
 * root) points to a block of `size` bytes, at +into." */
struct path_step {
    uint64_t offset, into, size;
    const struct frame *frame; /* user's frame that allocated the block, NULL = unknown */
    uint64_t signature;
    bool known;       /* `signature` is known */
    const char *word; /* name of the pointer in the previous block: "->next"; NULL = the name, or
                       * one before it, is unknown */
    const char *type; /* type of the block, or of its elements if it is an array; NULL = unknown */
};

/* Most offsets of struct interior that a report shows for a record, those with most blocks
 * first. */
#define INTERIORS_SHOWN 3

/* Blocks of a record that are reachable only through pointers to one offset behind their start. */
struct interior {
    uint64_t offset; /* offset in the block that the pointers have; 0 = pointers to the start,
                      * from blocks that are possibly lost */
    uint64_t blocks;
    bool root;                  /* the pointers are in roots */
    const struct frame *holder; /* if `root` is false: the pointers are in blocks that this frame
                                 * allocated; NULL = unknown */
};

/* The path of pointers from a root to a block. */
struct path {
    const struct root *root;
    const struct path_step *steps; /* the last step reaches the block itself */
    size_t count;
    size_t skipped, skipped_at; /* number of steps left out before steps[skipped_at]; 0 = none */
    /* The path as an expression: "g_cache.buckets[12]->next (cache.c:9)"; NULL = unknown. named:
     * how many steps from the root the expression covers; names behind them are unknown. */
    const char *words;
    size_t named;
    uint32_t found; /* index of the result of the leak check (in store_leak_check.found) whose
                     * block the path reaches */
};

/* One block of a record, which a report shows as an example. */
struct sample {
    uint64_t address, size; /* address 0 = the report leaves it out */
    struct thread_ref thread;
    uint32_t count; /* the block is allocation number `count`, from 1, of its thread */
    uint64_t time_ns;
    const uint8_t *content; /* the block's first `length` bytes; length 0 = unknown, or left out */
    size_t length;
    bool pointers;                    /* the content may contain addresses */
    const struct field_value *fields; /* values of the fields, decoded from content by the type
                                       * of the record */
    size_t field_count;
};

/* How the type of a block is known. T(NAME, word in JSON, words on the terminal, certainty of the
 * type in percent). */
#define TYPE_SOURCE_TABLE(T)                                                                       \
    T(VTABLE, "vtable", "by its virtual table", 100)                                               \
    T(ALLOCATOR, "allocator", "allocated by", 100)                                                 \
    T(CONSTRUCTOR, "constructor", "constructed by", 95)                                            \
    T(VARIABLE, "variable", "assigned to", 95)                                                     \
    T(MEMBER, "member", "assigned to", 95)                                                         \
    T(RESULT, "result", "returned by", 90)                                                         \
    T(PARAMETER, "parameter", "passed as", 85)                                                     \
    T(NAME, "name", "allocated by", 90)                                                            \
    T(POINTER, "pointer", "from", 75)

enum type_source {
#define T(name, word, words, percent) TYPE_BY_##name,
    TYPE_SOURCE_TABLE(T)
#undef T
        TYPE_SOURCE_MAX
};

extern const char *const type_source_word[], *const type_source_words[];

/* How a block is made of objects of its type. ONE, ARRAY: of one object, of several. FLEXIBLE:
 * of one object whose last member is an array that extends to the end of the block. HEAD: of one
 * object and other data behind it. PART: the object is somewhere in the block. */
enum type_layout { TYPE_ONE, TYPE_ARRAY, TYPE_FLEXIBLE, TYPE_HEAD, TYPE_PART, TYPE_LAYOUT_MAX };

#define TYPE_DOUBTFUL 0.8 /* a report says how certain a type is if its confidence is lower */

/* The type of blocks, and the evidence for it. */
struct block_type {
    const char *name; /* "struct entry", "Widget", "char"; for an array the type of an element */
    const char *via;  /* variable, member or function that the evidence is about; NULL = none */
    enum type_source source;
    enum type_layout layout;
    double confidence; /* 0 to 1 */
    uint64_t size;     /* size of one object in bytes; 0 = unknown */
    uint64_t at;       /* layout PART: offset of the object in the block */
};

/* The blocks of a record that have one type. */
struct type_sum {
    const struct block_type *type;
    uint64_t bytes, blocks;
    uint64_t block_size; /* size of each block in bytes; 0 = sizes differ or are unknown */
};

/* A field of a sample, as the type of its record says. */
struct field_value {
    const char *name; /* "next", "head.prev" */
    const char *type; /* "struct entry *", "int"; for an array the type of an element */
    uint64_t offset;
    const char *value; /* the value as in a C initializer, or "…" if the content ends before it */
};

/* A source line of a function in the stack of a record, and the blocks that it allocated, or that
 * what it calls allocated. */
struct record_line {
    const struct frame *frame;
    uint64_t bytes, blocks;
};

/* A function that by its name undoes what a function of a record's stack does. */
struct counterpart {
    const struct frame *frame; /* its definition */
    const struct frame *of;    /* the frame of the stack */
};

/* A function to which a caller passes what a call, which leads to the allocation, returns. */
struct handover {
    const struct frame *frame; /* the function, with the place of the call */
    const struct frame *in;    /* the caller */
    const struct frame *of;    /* the function that returns it */
};

/* The two leak checks of a process between which a record appeared. */
struct check_span {
    uint64_t after_ns; /* time of the last leak check without it; 0 = the first leak check
                        * already found it */
    uint64_t by_ns;    /* time of the first leak check with it; 0 = unknown */
};

struct stack {
    const struct frame *const *frames; /* innermost first */
    size_t count;
    uint32_t ending; /* why the stack ends, as in struct record */
};

/* The place where the last pointer to a block was lost. */
struct lost_place {
    bool known;
    const char *holder; /* variable that held the pointer: "g_cache (cache.c:12)"; NULL = none
                         * seen (a register held it, or nothing) */
    const struct frame *holder_maker; /* function that allocated the block with the pointer; NULL =
                                       * unknown, or no block held it */
    /* Stack of the instruction that overwrote the pointer, or of the call that freed the holder;
     * no frames: the pointer was lost between two calls of allocation functions, `before` and
     * `after`. */
    struct stack at;
    bool holder_freed;
    /* If holder_freed: frames of one function that freed other blocks before, one for each line,
     * ascending: of `from`, or of a function that its line called, a destructor. */
    struct stack frees;
    bool in_memory; /* the word that had the pointer was not on a stack */
    bool was_saved; /* the word was on a stack and is no variable: a register that a function saved
                     * for its callers, or left over from a function that had returned */
    struct stack before, after;
    /* The function that lost the pointer: its first and its last line that are possible; NULL =
     * unknown. */
    const struct frame *from, *to;
    bool returned;                   /* the pointer was lost when the function `from` returned */
    const struct frame *jumped_from; /* frame of another line that jumped to the instruction (to
                                      * a common exit, for example); NULL = unknown */
};

/* A block that leakrun --when-lost followed until it was lost. */
struct lost_block {
    uint32_t thread, count; /* the block is allocation number `count`, from 1, of the thread
                             * with this serial number */
    bool by_stack; /* it was found by its call stack: in another run, its number may differ */
    struct lost_place place, then;
    /* place.at was executed after the call in which the block was last seen reachable: a stack
     * word or register kept, or seemed to keep, the block until then. */
    bool late;
    /* When place.at has no frames: after so many calls of allocation functions, counted from the
     * block's allocation, a second run should single-step to find the instruction. */
    uint32_t step_at;
};

/* A place in the code that changed the reference count of a block. */
struct counting {
    int32_t by; /* 1 or -1: what the code added to the count; 0: it set the first value */
    uint64_t times;
    struct stack stack;       /* stack of the place, only its innermost frames */
    const struct frame *user; /* the user's function in `stack`; NULL = unknown */
};

/* A word of a block that changed as a reference count does. */
struct counter {
    uint64_t offset;      /* offset of the word in the block */
    int32_t first, value; /* the word's first and last value */
    struct counting *countings;
    size_t counting_count; /* number of countings[]; 0 = no change was observed */
};

/* A function that had a lost block before it was lost. */
struct way {
    const struct frame *function;    /* the user's function; NULL = there is none */
    const struct frame *end;         /* the line at which it ended; NULL = unknown */
    const struct frame *jumped_from; /* its line before `end`, if other lines lie between the two;
                                      * NULL = none */
    bool thrown;                     /* an exception or longjmp ended it */
    bool returned;                   /* its result was the block */
    bool variable; /* the variable that points to the block was passed to it, and not the block */
    struct stack stack; /* its call stack, from the function on */
};

#define WHEN_LOST_MOST 4
#define WAYS_MOST 3

/* The times and places at which blocks of a record were lost, observed in another run of the
 * program (leakrun --when-lost). */
struct when_lost {
    uint32_t run;                   /* number, from 1, of the first run with results */
    uint32_t followed, lost, freed; /* numbers of blocks */
    uint32_t below;                 /* number of blocks whose holder was lost */
    uint32_t agreed;                /* number of lost blocks that were lost in the
                                               * function of `place` */
    struct lost_place place;        /* the place where most blocks were lost */
    struct lost_place then;         /* a later place than `place`; then.known: from
                                               * `place` to `then` only words on stacks pointed
                                               * to the block */
    struct lost_block blocks[WHEN_LOST_MOST];
    size_t chosen;            /* index in blocks[] of the block that `place`
                                               * belongs to */
    struct stack used;        /* stack of the last instruction that used the chosen block; no
                               * frames: unknown */
    const struct frame *user; /* the user's function in `used`; NULL = unknown */
    /* number of bytes at the start of the block in which uses were watched; 0 = in the whole
     * block */
    uint64_t used_bytes;
    struct counter counter; /* reference count of the chosen block */
    bool has_way;           /* a run has recorded the way of the block through functions */
    /* how the functions that led to the allocation of the chosen block ended, innermost first;
     * without those that ended at the line of the allocation itself */
    struct way *ways;
    size_t way_count;
    struct way passed; /* the function that was called last with the block; without a
                               * function: unknown */
    const struct frame *allocates, *loses; /* two lines of one function: the one led to the
                                            * allocation, the other one to the loss; NULL = no such
                                            * function is known */
};

/* All blocks that a stack allocated, freed or not. */
struct allocated {
    uint32_t kind; /* enum leak_kind */
    uint64_t blocks, bytes;
    struct stack stack;
};

/* In how many processes, and on which hosts, a merged record occurs. */
struct seen {
    uint64_t processes;
    const char **hosts; /* names of the hosts that are known */
    size_t host_count;
};

/* The growth of the live bytes of a record. */
struct growth {
    enum growth_verdict verdict; /* any verdict but GROWTH_UNKNOWN */
    uint64_t bytes_per_second;   /* rate of growth; 0 unless the record grows */
    uint64_t peak_bytes;
    double confidence;  /* 0 to 1 */
    const char *reason; /* the evidence in one sentence, without a full stop */
};

/* The size of the heap at one time. */
struct moment {
    uint64_t time_ns; /* 0 = the report leaves it out */
    uint64_t bytes, blocks;
};

/* The live blocks of a site when the heap was largest. */
struct peak_part {
    uint64_t signature;
    uint32_t kind; /* enum leak_kind */
    uint64_t bytes, blocks;
    struct stack stack;
};

/* Blocks of a call stack that the thread that allocated them freed before it had allocated a few
 * more (LEAK_TEMPORARY_ALLOCATIONS). Estimates, unless every free was recorded. */
struct temporary_part {
    uint64_t signature;
    uint32_t kind; /* enum leak_kind */
    uint64_t bytes, blocks;
    uint64_t of;    /* freed blocks of these stacks, temporary or not */
    uint64_t grown; /* how many of the `of` freed blocks realloc freed while it enlarged a block
                     * step by step */
    struct stack stack;
};

/* A heap of which almost nothing was freed before it reached its peak. */
struct held_at_once {
    uint64_t blocks, bytes;                 /* live blocks at the peak */
    uint64_t of;                            /* blocks that the process allocated in its whole run */
    const struct frame *frame;              /* the function that allocated most of the bytes */
    uint64_t own_blocks, own_bytes, own_of; /* blocks of the function `frame`: live at the peak,
                                             * their bytes, and allocated in the whole run */
    enum held_until {
        HELD_UNKNOWN,  /* neither of the two cases below: freed partly, or long before the exit */
        HELD_TO_EXIT,  /* all freed when the process was about to exit */
        HELD_FOR_GOOD, /* never freed */
        HELD_MAX
    } until;
    const struct frame *freed_in; /* function that freed most of the blocks; NULL = unknown, or
                                   * not freed */
};

extern const char *const held_word[]; /* index: enum held_until; NULL = unknown */

/* The blocks that were allocated while the program had set one tag. */
struct tag_sum {
    const char *name;
    uint64_t bytes, blocks;
};

#define PARTINGS 3

struct record {
    uint64_t signature;
    enum verdict verdict;
    uint32_t kind; /* enum leak_kind */
    uint64_t bytes, blocks;
    struct error error;
    uint64_t first_ns, last_ns;
    struct thread_ref *threads;
    size_t thread_count;
    bool more_threads;
    const struct frame *const *frames; /* innermost first */
    size_t frame_count;
    uint64_t stacks;           /* number of call stacks merged into this record; `frames` is the
                                * one with most bytes */
    size_t user;               /* index of the user's frame that the headline shows; frame_count
                                * = none */
    size_t partings[PARTINGS]; /* indices of the frames from which on the record's stack differs
                                * from other records with its user frame, innermost first */
    size_t parting_count;
    /* The blocks by the line of the innermost function, from the user frame outwards, that has
     * several lines in their stacks, the largest first; none = all stacks have the same lines. */
    const struct record_line *lines;
    size_t line_count;
    size_t lines_of; /* index of that function's frame; its line is one of lines[] */
    bool more_lines;
    uint32_t ending;            /* why the stack ends: enum leak_root or STORE_ROOT_MISSING */
    const struct tag_sum *tags; /* the tags of tagged blocks, the largest first */
    size_t tag_count;
    const struct type_sum *types; /* types of the blocks whose type is known, the largest first */
    size_t type_count;
    uint64_t type_conflicts; /* number of blocks for which two pieces of evidence name different
                              * types */
    struct freed freed;
    struct freed beside;      /* set when `freed` has no places: where other blocks of the same
                               * function were freed */
    struct orphaned orphaned; /* verdicts LOST and INDIRECT: the holders whose free lost the
                               * blocks */
    struct orphaned earlier;  /* earlier holders of the same blocks than those in `orphaned`, if
                               * another function freed them */
    /* LOST, and no function is marked as the one to fix: functions that undo what functions of the
     * stack do, innermost first; without those that the report names for other reasons */
    const struct counterpart *counterparts;
    size_t counterpart_count;
    /* LOST, and no function is marked as the one to fix: functions that get the blocks, or what
     * holds them, from one caller, and are in no stack; as the calls follow in the code */
    const struct handover *handovers;
    size_t handover_count;
    struct check_span first_lost, last_lost; /* LOST and INDIRECT: when the first and when the
                                              * last block of the record was lost */
    const struct when_lost *when_lost;       /* NULL = leakrun --when-lost followed no block of
                                              * the record */

    struct verdict_total retained; /* what fixing the leak releases, the record included; no
                                    * blocks = unknown */
    bool cycle;   /* the blocks are in reference cycles; the record counts one block of each
                   * cycle */
    bool dropped; /* the blocks were REACHABLE when the exit handlers began and unreachable when
                   * they ended */
    bool ignored; /* the blocks are REACHABLE because the program asked libleak to ignore them
                   * (libleak_ignore) */
    bool shared;  /* INDIRECT: some of the blocks are reachable from blocks of other records as
                   * well */
    bool tagged;  /* POSSIBLE: the only pointers to the blocks have low bits set, which may be a
                   * tag */
    bool header;  /* REACHABLE: some blocks are reachable only by pointers to behind a header
                   * that all blocks of the site have */
    const struct interior *interiors; /* offsets in the blocks that pointers to them have; only
                                       * if the verdict is POSSIBLE or `header` is set */
    size_t interior_count;
    /* INDIRECT: 1 + index of the record that owns this one; POSSIBLE: 1 + index of the record
     * that an interior pointer refers to; 0 = none. */
    size_t owner;
    size_t owned, next_owned; /* 1 + index of the first record that this one owns, and of the
                               * next record with the same owner; 0 = none */
    const struct path *path;  /* REACHABLE and POSSIBLE: path to the largest block, or NULL */
    const struct sample *samples;
    size_t sample_count;
    const struct growth *growth;      /* NULL = unknown; of records with the same stacks only the
                                       * largest has it */
    const struct rule *suppressed_by; /* rule that suppresses the record, so that totals leave it
                                       * out; NULL = not suppressed */
    size_t lead;      /* 1 + index of the first record of its entry, 0 = this record is the first */
    struct seen seen; /* a report of several processes: where the record occurs; else no
                       * processes */
};

/* Records that probably have one cause (leak_groups.h in symbolize/records finds them). */
struct entry {
    size_t *parts; /* indices of the entry's records, the largest first */
    size_t count;
    uint64_t shared; /* name_hash of the function in all headlines; 0 = the entry has one record */
    uint64_t bytes, blocks;
    struct verdict_total retained;
};

/* The numbers of the summary line that ends a report. */
struct totals {
    struct verdict_total of[VERDICT_MAX];
    uint64_t growing, errors, resources; /* numbers of growing records, wrong frees and resources */
};

struct untracked {
    const char *name, *words;
    uint64_t count;
    bool estimated;
};

/* A module without full debug information, and what the user can do about it. */
struct blind_module {
    const char *path, *build_id;
    const char *why;
    const char *remedy;  /* command or advice that helps; NULL = none */
    const char *package; /* system package that contains the module, NULL = unknown */
    const char *install; /* package with the debug information, NULL = unknown */
    bool runtime;        /* the C library or a runtime library: reports print no warning about it */
    bool nameless;       /* not even function names are known, so signatures of its frames differ
                          * between builds */
};

/* How call stacks were captured: from the stack cache (leaf_cache_hits), or by unwinding frame by
 * frame (walks). Unwinding does not read again the outer frames that are unchanged since the
 * thread's previous stack (frames_shared). */
struct stacks {
    uint64_t captures, leaf_cache_hits, walks;
    uint64_t frames_walked, frames_shared;
};

/* One of the last blocks that a thread freed. */
struct recent_free {
    uint64_t address;
    uint64_t time_ns;
    struct thread_ref thread;
    uint32_t kind;      /* enum leak_kind: how the block was allocated */
    struct stack freed; /* stack of the free; if `whole` is false, only the return address of the
                         * call */
    bool whole;
    struct stack allocated;
};

/* A word that contains a pointer into a block. */
struct pointer {
    uint64_t into;                /* offset of the pointer's target in the block */
    const struct root *root;      /* the root that contains the word; NULL: a block contains it,
                                   * or unknown */
    uint64_t block, size, offset; /* block that contains the word, its size, and the word's
                                   * offset; block 0: unknown */
    const struct frame *frame;    /* frame that allocated the containing block, NULL = unknown */
};

/* What the last leak check found out about one address (leakreport --who), if it was asked to. */
struct address_info {
    uint64_t address;
    bool asked;           /* the leak check examined this address */
    uint64_t block, size; /* block that contains the address or ends at it; block 0: none */
    enum verdict verdict;
    uint32_t kind, count; /* the block is allocation number `count`, from 1, of its thread */
    struct thread_ref thread;
    uint64_t time_ns;
    struct stack allocated;
    const struct pointer *pointers; /* words with pointers into the block, roots first */
    size_t pointer_count;
    bool more; /* the process had more pointers into the block than it recorded */
};

/* A bad free that happened `count` times in the same way. Address and time are those of the
 * first occurrence. */
struct bad_free {
    uint64_t signature;
    uint32_t type;            /* enum leak_event_type */
    uint32_t form;            /* enum leak_form */
    uint32_t kind;            /* enum leak_kind of the block, LEAK_KIND_NONE = no block, or
                               * unknown */
    uint64_t address;         /* address that the program passed, 0 = left out */
    uint64_t size;            /* size of the block */
    int64_t offset;           /* offset of the address from the start of the block */
    bool has_block;           /* `size` and `offset` are known */
    uint64_t said, right;     /* size or alignment that the program passed, and the correct one;
                               * 0 = unknown */
    const char *where;        /* what is at an address that is no block, NULL = unknown */
    struct thread_ref thread; /* serial 0 = unknown */
    struct thread_ref block_thread; /* thread that allocated the block, as its allocation
                                     * number block_count, from 1; serial 0 = unknown */
    uint32_t block_count;
    uint64_t time_ns, count;
    struct stack released, allocated; /* stacks of the bad free and of the allocation; no frames
                                       * = unknown */
    /* These fields describe the first free of the block if this is a double free. */
    uint32_t first_form;
    struct thread_ref first_thread;
    uint64_t first_ns;
    struct stack first;
    bool first_whole; /* `first` is the whole stack, not only the return address of the free */
    /* The pool of the program that the block is in, and the pool that the call names; NULL =
     * none. */
    const char *block_pool, *call_pool;
    size_t lead; /* 1 + index of the first bad free with the same cause, 0 = this is the first */
};

/* A block that contains an address, or ends before it. */
struct crash_block {
    const char *register_name; /* register that contains the address; NULL = the address is that
                                * of the invalid access */
    uint64_t start, size;
    uint64_t offset; /* offset of the address from the start; offset >= size: behind the end of
                      * the block */
    bool about;      /* the exact size is unknown, and `size` is rounded up */
    uint32_t kind;   /* enum leak_kind */
    bool was_freed;  /* the block was freed before the crash; freed_by to freed_whole describe
                      * that free */
    struct thread_ref freed_by;
    uint64_t freed_ns;
    struct stack freed;
    bool freed_whole; /* `freed` is the whole stack, not only the return address of the free */
    struct stack allocated;
};

/* Frames of a recursion that a report leaves out: "The `frames` frames before frame `end` repeat
 * `times` more times." */
struct crash_repeat {
    size_t end, frames;
    uint64_t times;
};

struct crash_register {
    const char *name;
    uint64_t value;
};

/* The signal that killed the process. */
struct crash {
    uint64_t signature;
    int32_t signal, code;
    const char *name;   /* "SIGSEGV" */
    const char *words;  /* description of the access: "write to 0x10, 16 bytes behind a null
                         * pointer" */
    const char *near;   /* what is near the fault address, NULL = unknown */
    bool overflow;      /* the stack overflowed */
    bool handed;        /* a signal handler of the program ran before the process died */
    bool during_look;   /* the process crashed while a leak check ran */
    bool blocks_busy;   /* the table of blocks was being changed, so not all blocks could be
                         * searched */
    const char *inside; /* where in libleak the crash happened, for a warning; NULL = it happened
                         * in the program */
    bool answers;       /* the allocator aborted because of a wrong free, which is the first bad
                         * free of the report */
    uint64_t address;
    bool has_address;
    struct thread_ref thread;
    int32_t tid;
    uint64_t time_ns;
    struct stack stack;
    struct crash_repeat *repeats; /* ascending by `end` */
    size_t repeat_count;
    uint64_t depth;                 /* number of frames of the whole stack, inlined ones not
                                     * counted; 0 = left out of the report */
    uint64_t left_out, left_out_at; /* number of frames that are missing before
                                     * frames[left_out_at] */
    struct crash_register *registers;
    size_t register_count;
    struct crash_block *blocks; /* block of the invalid address first, then those that registers
                                 * point to */
    size_t block_count;
    const char **modules; /* paths of the loaded modules */
    size_t module_count;
};

#define RESOURCE_NAMES 8 /* most names that a report shows for a resource record */

/* Open resources of one type and call stack (descriptors, streams, threads ...), or bad closes
 * of one call stack. */
struct resource {
    const char *type; /* "fd", "file" ..., or "double-close", "bad-close" */
    /* blocks: the number of resources; bytes; stack, time and thread that opened them. Bad
     * close: blocks is the number of closes, and stack, time and thread are those of the close. */
    struct record record;
    bool has_bytes;
    bool bad_close;
    bool once; /* the process opened this once and left it open, as many correct programs do */
    /* The place that releases most of the other resources of this type that the function in the
     * title opens. If it opens none that are released, the same for a caller of that function, and
     * released_of is that caller. NULL = no such place is known. */
    const struct frame *released_at, *released_of;
    const char *names[RESOURCE_NAMES]; /* distinct names, as paths */
    size_t name_count;
    bool more_names;
    bool taken;                  /* bad close: the descriptor number belonged to another resource
                                  * when it was closed again */
    struct stack opened, closed; /* bad close: stacks that opened the resource and that closed it
                                  * first; no frames: unknown */
    struct thread_ref closed_by;
};

/* A descriptor that was open when the process began and is still open. */
struct inherited {
    uint64_t number;
    const char *name; /* path or other name of the descriptor, NULL = unknown */
};

/* The number of resources of one type. An array of these is indexed by enum leak_resource_type. */
struct resource_total {
    const char *type;
    uint64_t opened, open;
};

/* How the last leak check was made. */
struct leak_check {
    uint64_t when_ns;               /* 0 = the report leaves it out */
    const char *rung;               /* "parked": all threads were stopped; "unstopped": some ran on,
                                     * so two copies of memory were compared; "none": no leak check
                                     * was made */
    const char *occasion, *trouble; /* why the leak check was made, and what went wrong; NULL =
                                     * none */
    uint64_t pause_ns, check_ns;
    bool timed;   /* pause_ns and check_ns were measured */
    bool made;    /* the leak check was made; else `trouble` says why not */
    bool stopped; /* all threads were stopped */
    bool last;    /* made when the process exited, while its threads still ran */
    uint64_t threads_parked, threads_missed, skipped;
    uint64_t unreadable; /* number of pages without read access, which count as zeros */
    uint32_t milestone;  /* number of the leak check as a milestone, 0 = it is none */
};

/* A mark that the user set, or a leak check: blocks are older or newer than it. */
struct milestone {
    uint32_t number;
    uint64_t time_ns;
    const char *name; /* name of a mark; NULL = the milestone is a leak check */
};

/* A root and what it keeps alive, each block counted for the root with the shortest path. */
struct owner {
    const struct root *root;
    const struct path *path; /* path to the largest record that the root keeps alive, NULL =
                              * unknown */
    uint64_t bytes, blocks;
    const struct growth *growth; /* growth of the bytes that the root keeps alive; NULL = unknown */
};

struct seen_thread {
    struct thread_ref thread; /* serial 0 = the thread never allocated */
    int32_t tid;
    struct stack stack;
};

struct process {
    const char *store; /* path of the recording file */
    const char *host, *exe;
    const char **argv;
    size_t argc;
    int32_t pid, ppid;
    uint64_t started_ns, ended_ns, peak_ns;
    /* time of the process's end, or of the report if the process runs; ages are relative to it; 0 =
     * unknown */
    uint64_t until_ns;
    enum end_how how;
    int32_t end_value;
    bool has_end_value;
    bool forked; /* a fork child that did not call exec: its first blocks came from its parent */
    /* The forks that led to a fork child, as follow_blocks= names it: "T1.3/T1.1/"; empty: the process
     * is none; NULL: unknown. */
    const char *fork_chain;
    bool replaced; /* the process called exec, and the report has the program that followed */
    bool damaged;  /* the recording file could not be read in full */
    /* What the process could not check, as words behind "pid 42: "; NULL = nothing is missing.
     * gap: findings of any kind may be missing; verdict_gap: verdicts of blocks. Options that
     * the user chose do not count. */
    const char *gap, *verdict_gap;
    uint64_t sample; /* sampling interval: one block per so many allocated bytes is recorded, so
                      * sums are estimates; 0 = no sampling */
    bool asked;      /* the process allocated, even if no block was sampled */

    uint64_t allocations, frees, bytes_allocated;
    uint64_t live_bytes, live_blocks, peak_bytes;
    struct error live_error;
    uint64_t unknown_frees;
    uint64_t older_blocks, older_bytes; /* live blocks from before libleak was loaded; 0 =
                                         * unknown */
    uint64_t truncated[8];              /* number of shortened stacks by the reason of their end,
                                         * indexed like record.ending */
    uint64_t truncated_stacks;
    /* With the option unwind_check: the number of captured stacks that a second unwinder unwound
     * again; how many of these differ; and how many end early, and are marked as truncated, but go
     * on in the second unwinder. */
    uint64_t unwind_checks, unwind_mismatches, unwind_stops;
    uint64_t own_bytes; /* memory that libleak itself used at the end; 0 = unknown */
    int64_t own_astray; /* the part of own_bytes that libleak's own counters miss */
    struct stacks stacks;
    struct untracked *untracked;
    size_t untracked_count;
    struct blind_module *blind;
    size_t blind_count;

    struct record *records; /* sorted as the user requested */
    size_t record_count;
    struct entry *entries; /* all records grouped into entries, in the order of records[] */
    size_t entry_count;
    struct record *grown; /* records that grew earlier and have no live blocks now; verdict
                           * UNFREED */
    size_t grown_count;
    struct moment *history; /* ascending by time */
    size_t history_count;
    struct moment peak;           /* when the heap was largest; bytes 0: unknown */
    struct milestone *milestones; /* ascending by time */
    size_t milestone_count;
    struct peak_part *peak_parts; /* sites with most bytes at the peak, the largest first; small
                                   * ones are left out */
    size_t peak_part_count;
    struct temporary_part *temporary; /* the stacks with most temporary blocks, those with most
                                       * first; temporary_blocks counts those of all stacks */
    size_t temporary_count;
    uint64_t temporary_bytes, temporary_blocks;
    const struct held_at_once *held; /* NULL = much was freed before the peak, or the heap was
                                      * small */
    struct allocated *allocated;     /* all stacks that allocated, for profile formats */
    size_t allocated_count;
    struct totals totals;
    struct verdict_total suppressed; /* sum of the suppressed records, which `totals` leaves out */
    struct rule_use *rules;          /* the rules that suppressed records */
    size_t rule_count;
    struct error errors[VERDICT_MAX];  /* sampling errors of the totals */
    struct recent_free *recent;        /* the recent frees that the user requested, the newest
                                        * first */
    size_t recent_count, recent_known; /* recent_known: frees that are recorded, requested or not */
    const struct address_info *who;    /* what is at the address of --who; NULL = not requested */
    struct bad_free *mistakes;         /* bad frees, in the order of the recording file */
    size_t mistake_count;
    struct crash *crash;        /* NULL = none */
    bool crash_only;            /* the option crash=only was set: blocks were not tracked */
    bool late;                  /* libleak was loaded into the process while it ran */
    bool never_enabled;         /* tracking began disabled (option start=off) and was never
                                 * enabled */
    struct resource *resources; /* reportable ones first, then sorted by count, descending */
    size_t resource_count;
    struct inherited *inherited;
    size_t inherited_count;
    struct resource_total *resource_totals; /* one for each type of resource that was tracked */
    size_t resource_total_count;
    uint64_t resources_missed; /* resources that the recording file had no room for */
    struct leak_check *look;   /* the last leak check; NULL = none was attempted */
    const char *unchecked;     /* why no leak check was made although the user wanted one; NULL =
                                * unknown */
    struct owner *owners;      /* sorted by the bytes that they keep alive, the most first */
    size_t owner_count;
    struct seen_thread *threads; /* all threads but the one that ran the leak check */
    size_t thread_count;
    const char **notes;
    size_t note_count;
    size_t alike; /* index of the first process in the report with the same findings; it may be
                   * this process itself */
};

struct report {
    const char *host;
    const char *debuginfod; /* URL of a debuginfod server to suggest for modules without debug
                             * information; NULL = unknown, or the user has set one */
    struct process *processes;
    size_t process_count;
    const struct rule **unused; /* suppressions that matched no record */
    size_t unused_count;
    const struct rule **expired; /* suppressions after their last day (rule.expires) */
    size_t expired_count;
    bool followed; /* the report has what further runs of leakrun --when-lost have found */
};

/* Moves the process that the user started to the front of processes[]: from the first process of
 * the report it goes to the earliest ancestor in the report, and then to the last program that
 * this ancestor executed. Sets `replaced` of each process. */
void report_put_lead_first(struct report *report);

/* Says whether a process has leaks, wrong frees, growth or other findings. Blocks with the verdict
 * UNFREED do not count, since no leak check was made. */
bool process_has_findings(const struct process *process);

/* Says whether the process only called exec: it has no findings but unfreed blocks, which vanished
 * with its memory. */
bool process_only_called_exec(const struct process *process);

/* Returns the name of a process: argv[0] without its directory, or the whole title that a server
 * gave itself ("nginx: worker process"). Never NULL. */
const char *process_name(const struct process *process);

/* Returns the last component of a path; NULL for NULL. */
const char *base_name(const char *path);

/* Says whether a frame is the user's code, wrappers included. */
static inline bool frame_is_user_code(const struct frame *frame)
{
    return frame->role == FRAME_USER || frame->role == FRAME_WRAPPER;
}

/* Returns the index of the first frame with role FRAME_USER that has a module or a name; count =
 * none. */
size_t frame_first_user(const struct frame *const *frames, size_t count);

/* Returns the function name of a frame; without one, module and offset written into the buffer, cut
 * to fit. */
#define FRAME_NAME_SIZE 4128
const char *frame_name(const struct frame *frame, char buffer[FRAME_NAME_SIZE]);

/* Returns the index of the first frame that is no allocator; 0 when all are. */
size_t frame_first_caller(const struct frame *const *frames, size_t count);

/* Makes a record with this stack and no blocks, so that writers can print the stack like a
 * record's. */
struct record record_from_stack(const struct stack *stack);

/* Returns the frame in the headline of a record: the user's, else the first that is no allocator,
 * else the first; NULL without frames. */
const struct frame *record_title_frame(const struct record *record);

/* Says whether the record grew until the end of the process, or until the program freed its
 * memory to exit. */
bool record_is_growing(const struct record *record);

/* Links each record to those that it owns: sets owned and next_owned from `owner`, in the order
 * of records[]. */
void process_link_owned(struct process *process);

/* Says whether a process leaked: it has blocks that are neither reachable nor kept by the
 * runtime. */
bool process_has_leaks(const struct process *process);

/* Says whether a resource is worth a report: it is open, or was closed, in a way that correct
 * programs avoid. */
bool resource_is_reportable(const struct resource *resource);

/* Returns the name of a crash's type in JSON and XML: "stack-overflow" or "crash". */
const char *crash_type_name(const struct crash *crash);

/* Adds up the totals of all processes, saturating. */
struct totals report_totals(const struct report *report);

uint64_t add_saturating(uint64_t a, uint64_t b);
void verdict_total_add(struct verdict_total *sum, const struct verdict_total *one);

/* ---- Order ----------------------------------------------------------------------------------- */

/* Returns a number that orders verdicts in a report, the worst first: what is certainly lost, what
 * may be lost, what no leak check classified, what is reachable, what the runtime keeps. */
int verdict_rank(enum verdict verdict);

/* The order of records with the same verdict. */
enum sort_order {
    SORT_RETAINED, /* descending by the bytes that fixing the leak releases */
    SORT_BYTES,    /* descending by the bytes of the record itself */
    SORT_COUNT,    /* descending by the blocks that fixing the leak releases */
    SORT_AGE,      /* by the time of the first block, the oldest first */
    SORT_GROWTH,   /* descending by the growth in bytes per second */
};

/* Compares two records by verdict_rank(), then by `sort`, then by retained bytes and identity,
 * so that no two are equal. Negative: a comes first. */
int record_compare(const struct record *a, const struct record *b, enum sort_order sort);

#endif
