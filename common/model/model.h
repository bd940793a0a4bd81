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

/* V(NAME, word on the terminal and in JSON, words of a headline) */
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

extern const char *const kind_word[]; /* by enum leak_kind, and KIND_OLDER */
#define KIND_OLDER LEAK_KIND_MAX      /* allocated before libleak was loaded */
#define KIND_MAX (LEAK_KIND_MAX + 1)
extern const char *const form_word[];       /* by enum leak_form; NULL = unknown */
extern const char *const bad_free_word[];   /* by enum leak_event_type */
extern const char *const root_class_word[]; /* by enum leak_root_class; NULL = unknown */
extern const char *const resource_word[];   /* by enum leak_resource_type */

enum end_how { END_EXIT, END_SIGNAL, END_EXEC, END_RUNNING, END_LOST };
extern const char *const end_word[];

enum frame_role {
    FRAME_USER,      /* presumably code of the user */
    FRAME_RUNTIME,   /* C and C++ libraries, start-up code */
    FRAME_WRAPPER,   /* xmalloc, my_strdup: code of the user that only passes a size on */
    FRAME_ALLOCATOR, /* malloc, operator new ...: never the headline of a record */
};

struct frame {
    const char *function; /* demangled, NULL = unknown */
    const char *symbol;   /* the mangled name if it differs, else NULL */
    const char *file;
    uint32_t line, column; /* 0 = unknown */
    const char *module;    /* path, NULL = in no module */
    const char *build_id;  /* hex digits, NULL = none */
    uint64_t offset;       /* the address in the module's own address space; in no module: the pc */
    bool has_offset;
    bool inlined; /* into the next frame */
    bool python;  /* a function in Python; in no module */
    enum frame_role role;
    uint64_t
        name_hash; /* of module base name (of the program itself: none) + function; makes signatures */
};

struct thread_ref {
    uint32_t serial;
    const char *name;
};

/* The error of sums over a sampled process: half widths of the 95 % interval, and the number of
 * live samples. All zero: the sums are exact. */
struct error {
    uint64_t bytes, blocks;
    uint64_t samples;
};

#define FREED_PLACES                                                                               \
    3 /* reported of each record: first those whose stacks agree best with its own */

struct freed_place {
    const struct frame *frame;  /* the user's, in the stack of the free */
    const struct frame *common; /* the innermost function that the record's stack has, too: the line
                                   of its call; NULL = none */
    const struct frame *below;  /* the user's function that it calls; NULL = it frees by itself */
    size_t inner; /* the user's functions in the record's stack inside of it: with more than
                     COMMON_NEAR, common is NULL */
    bool close; /* common is so near that it is most likely the function to fix; see COMMON_CLOSE */
    double share; /* of the sampled frees, 0 to 1 */
};

/* The places where other blocks with a record's stacks were freed. They leave out blocks that
 * realloc moved, and blocks that the allocating line itself freed. */
struct freed {
    uint64_t blocks;    /* of its stacks that were freed, anywhere */
    uint64_t allocated; /* by its stacks, without those that realloc moved; 0 = unknown */
    struct freed_place place[FREED_PLACES];
    size_t places;   /* 0 = nothing is known */
    size_t most;     /* index of the most frequent place */
    bool other_path; /* of stacks with the same user frame: these stacks freed none */
    bool exact;      /* every free was recorded; else the shares are estimates */
    bool enough;     /* enough frees to report the shares */
    bool sampled;    /* the process was sampled: "blocks" and "of" are estimates, too */
    double late;     /* share of the sampled frees that happened while the program exited */
    uint64_t of;     /* the number of frees that the shares refer to, 0 = unknown */
    const struct frame *const *frames; /* the most frequent stack of the first place */
    size_t frame_count;
};

/* Blocks of a record to which a block pointed when it was freed. */
struct orphaned {
    uint64_t blocks;                   /* of which this is known */
    const struct frame *holder;        /* which allocated that block, NULL = unknown */
    const struct frame *const *frames; /* the stack that freed it */
    size_t frame_count, user;          /* user < frame_count, unless blocks is 0 */
};

struct verdict_total {
    uint64_t bytes, blocks, records;
};

/* A suppression of a known leak, see rules.h. */
struct rule {
    const char *text;    /* "leak:pattern", or a name */
    const char *where;   /* "FILE:LINE" */
    const char *reason;  /* NULL = none */
    const char *expires; /* the last day, "2027-01-31"; NULL = none */
    const char
        *managed; /* "ruby's garbage collector", which the blocks belong to: no leak check can
                            judge them; NULL = none */
    bool built_in;
};

struct rule_use {
    const struct rule *rule;
    struct verdict_total total; /* what it suppressed */
};

/* A word outside the heap that points to blocks. */
struct root {
    const char *words;    /* "g_cache (cache.c:12)", "a stack slot of f() (T1)" */
    uint32_t class;       /* enum leak_root_class */
    const char *variable; /* NULL = unknown, like the others */
    const char *function; /* STACKS: of the frame; a static local: of the variable */
    const char *file;
    uint32_t line;
    const char *module;       /* path */
    struct thread_ref thread; /* serial 0 = none, or one that never allocated */
    uint64_t offset;          /* of the word in the variable, else in the module or mapping */
    bool has_offset;
};

/* "The word at +offset of the step before points to a block of size bytes, at +into." */
struct path_step {
    uint64_t offset, into, size;
    const struct frame *frame; /* where the block was allocated, NULL = unknown */
    uint64_t signature;
    bool known;       /* the signature */
    const char *word; /* of the pointer to it, in what the step before leads to: "->next"; NULL =
                         unknown, or a word before it is */
    const char *type; /* of the block, or of its elements; NULL = unknown */
};

#define INTERIORS_SHOWN 3 /* of each record, those of most blocks first */

/* Blocks that are held only by pointers behind their start. */
struct interior {
    uint64_t offset; /* 0 = at their start, by blocks that are themselves possibly lost */
    uint64_t blocks;
    bool root;                  /* the pointers are in roots … */
    const struct frame *holder; /* … else in blocks allocated here; NULL = unknown */
};

/* How a reachable block is reached. */
struct path {
    const struct root *root;
    const struct path_step *steps; /* the last one reaches the block itself */
    size_t count;
    size_t skipped, skipped_at; /* steps left out before steps[skipped_at]; 0 = none */
    /* The root's words with the pointer to the block: "g_cache.buckets[12]->next (cache.c:9)"; NULL =
     * unknown. named: the pointer to the block of so many steps; the rest is unknown. */
    const char *words;
    size_t named;
    uint32_t found; /* number of the result of the leak check that it leads to */
};

/* One block of a record, as an example. */
struct sample {
    uint64_t address, size; /* address 0 = left out */
    struct thread_ref thread;
    uint32_t count; /* n-th allocation of its thread */
    uint64_t time_ns;
    const uint8_t *content; /* its first `length` bytes; length 0 = unknown, or left out */
    size_t length;
    bool pointers;                    /* the content may contain addresses */
    const struct field_value *fields; /* that the content and the type tell */
    size_t field_count;
};

/* How the type of a block is known. T(NAME, word in JSON, words on the terminal, percent: how certain) */
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

/* How a block is made of objects of its type. FLEXIBLE: one, whose last member is an array that
 * extends to the end. HEAD: it begins with one, and something else follows. PART: one is in it. */
enum type_layout { TYPE_ONE, TYPE_ARRAY, TYPE_FLEXIBLE, TYPE_HEAD, TYPE_PART, TYPE_LAYOUT_MAX };

#define TYPE_DOUBTFUL 0.8 /* a confidence below it is said */

/* The type of blocks, with its evidence. */
struct block_type {
    const char *name; /* "struct entry", "Widget", "char"; of an array, that of an element */
    const char *via;  /* the variable, member or function of the evidence; NULL = none */
    enum type_source source;
    enum type_layout layout;
    double confidence; /* 0 to 1 */
    uint64_t size;     /* of one object; 0 = unknown */
    uint64_t at;       /* of PART: where the object begins */
};

/* The blocks of a record that have one type. */
struct type_sum {
    const struct block_type *type;
    uint64_t bytes, blocks;
    uint64_t block_size; /* of each block, 0 = they differ, or it is unknown */
};

/* A field of a sample, as the type of its record says. */
struct field_value {
    const char *name; /* "next", "head.prev" */
    const char *type; /* "struct entry *", "int"; of an array, that of an element */
    uint64_t offset;
    const char *value; /* as in a C initializer, or "…" where the content is too short */
};

/* A line of the function in the headline of a record, and what was allocated there. */
struct record_line {
    const struct frame *frame;
    uint64_t bytes, blocks;
};

/* The two leak checks of a process between which something appeared. */
struct check_span {
    uint64_t after_ns; /* 0 = the first leak check saw it */
    uint64_t by_ns;    /* 0 = unknown */
};

struct stack {
    const struct frame *const *frames; /* innermost first */
    size_t count;
    uint32_t ending; /* as of a record */
};

/* The place at which the last pointer to a block was lost. */
struct lost_place {
    bool known;
    const char *holder; /* "g_cache (cache.c:12)"; NULL = none was seen: a register, or nothing */
    struct stack at;    /* of the instruction, or of the call that freed the holder; no frames: it
                           happened between the two calls of an allocation function below */
    bool holder_freed;
    struct stack before, after;
    /* The function, in its first and in its last line that are possible; NULL = unknown. */
    const struct frame *from, *to;
    bool returned;                   /* when this function returned */
    const struct frame *jumped_from; /* to that instruction, in another line; NULL = unknown */
};

/* A block that was followed and lost. */
struct lost_block {
    uint32_t thread, count; /* its serial */
    struct lost_place place, then;
    bool late; /* place.at is behind the second call: until then a register held it, or seemed to */
    /* place.at has no frames: the number of the call, counted from the block's allocation, behind
     * which a run that executes the code step by step would find the instruction. */
    uint32_t step_at;
};

/* A place that counted references to a block. */
struct counting {
    int32_t by; /* 1 or -1; 0: gave it its first value */
    uint64_t times;
    struct stack stack;       /* its innermost frames */
    const struct frame *user; /* of these, the program's code; NULL = unknown */
};

/* What looks like the reference count of a block. */
struct counter {
    uint64_t offset;      /* in the block */
    int32_t first, value; /* its first and its last value */
    struct counting *countings;
    size_t counting_count; /* 0 = none was seen */
};

#define WHEN_LOST_MOST 4

/* The times and places at which blocks of a record were lost, in another run of the program
 * (leakrun --when-lost). */
struct when_lost {
    uint32_t followed, lost, freed;           /* blocks */
    uint32_t agreed;                          /* of those lost, in the same function */
    struct lost_place place;                  /* of most of them */
    struct lost_place then;                   /* known: from there to here only a stack held it */
    struct lost_block blocks[WHEN_LOST_MOST]; /* each one that was lost */
    size_t chosen;                            /* whose place it is */
    struct stack used;        /* the instruction that used that block last; no frames: unknown */
    const struct frame *user; /* of that stack, the program's code */
    uint64_t used_bytes;      /* known of these first bytes only; 0 = of the block */
    struct counter counter;   /* of the chosen block */
};

/* All that a stack allocated, freed or not. */
struct allocated {
    uint32_t kind; /* enum leak_kind */
    uint64_t blocks, bytes;
    struct stack stack;
};

/* The processes and hosts in which a record of several processes occurs. */
struct seen {
    uint64_t processes;
    const char **hosts; /* the known ones */
    size_t host_count;
};

/* The growth of the live bytes of a record. */
struct growth {
    enum growth_verdict verdict; /* never UNKNOWN */
    uint64_t bytes_per_second;   /* 0 unless it grows */
    uint64_t peak_bytes;
    double confidence;  /* 0 to 1 */
    const char *reason; /* one sentence, without its full stop */
};

/* The heap at one time. */
struct moment {
    uint64_t time_ns; /* 0 = left out */
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
    uint64_t of;    /* blocks of these stacks that were freed, temporary or not */
    uint64_t grown; /* of those, freed by the same call that allocates: realloc, step by step */
    struct stack stack;
};

/* A heap of which next to nothing was freed until it was largest. */
struct held_at_once {
    uint64_t blocks, bytes;                 /* at that time */
    uint64_t of;                            /* blocks that were ever allocated */
    const struct frame *frame;              /* the function that allocated most of the bytes … */
    uint64_t own_blocks, own_bytes, own_of; /* … and the same of its blocks */
    enum held_until {
        HELD_UNKNOWN,  /* they were freed some time after */
        HELD_TO_EXIT,  /* all were freed when the process was about to end */
        HELD_FOR_GOOD, /* they were never freed */
        HELD_MAX
    } until;
    const struct frame *freed_in; /* most of them; NULL = unknown, or not freed */
};

extern const char *const held_word[]; /* by enum held_until; NULL = unknown */

/* What was allocated under a tag that the program set. */
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
    uint64_t stacks;           /* merged into this record; the frames are those of the largest */
    size_t user;               /* index of the user frame; frame_count = none */
    size_t partings[PARTINGS]; /* indices of the frames in which it first differs from other records
                                  with its user frame, innermost first; see records.h */
    size_t parting_count;
    const struct record_line
        *lines; /* of the user frame, the largest first; none = there is only one */
    size_t line_count;
    bool more_lines;
    uint32_t ending;            /* how the trace ended: enum leak_root or STORE_ROOT_MISSING */
    const struct tag_sum *tags; /* the largest first; the other blocks have none */
    size_t tag_count;
    const struct type_sum *types; /* the largest first; the other blocks have no known type */
    size_t type_count;
    uint64_t type_conflicts; /* blocks for which the evidence contradicts itself */
    struct freed freed;
    struct freed beside;      /* where no such block was freed: other blocks of the same function */
    struct orphaned orphaned; /* LOST and INDIRECT */
    struct orphaned
        earlier; /* likewise the owner before, of as many blocks, which another function freed */
    struct check_span first_lost, last_lost; /* LOST and INDIRECT: the first and the last of them */
    const struct when_lost *when_lost;       /* NULL = no block of it was followed */

    /* What the leak check found. */
    struct verdict_total
        retained; /* what fixing it releases, itself included; no blocks = unknown */
    bool cycle;   /* reference cycles, represented by one block of each */
    bool dropped; /* REACHABLE when the exit handlers began, unreachable when they ended */
    bool ignored; /* REACHABLE because the program asked to ignore it */
    bool shared;  /* INDIRECT: part of it belongs to other records, too */
    bool tagged;  /* POSSIBLE: by pointers whose low bits may be a tag */
    bool header;  /* REACHABLE: some of it behind a header that all such blocks have */
    const struct interior *interiors; /* POSSIBLE, or header */
    size_t interior_count;
    size_t owner;             /* INDIRECT: index + 1 of the record that owns it; POSSIBLE: of the
                                 one into which an interior pointer leads to it; 0 = none */
    size_t owned, next_owned; /* likewise the first that this one owns, and the next with the
                                 same owner; see process_link_owned() */
    const struct path *path;  /* REACHABLE, POSSIBLE: how its largest block is reached, or NULL */
    const struct sample *samples;
    size_t sample_count;
    const struct growth *growth; /* NULL = unknown; only the largest record of its stacks has it */
    const struct rule *suppressed_by; /* then it is in no total; NULL = it is not suppressed */
    size_t lead;      /* index + 1 of the first record of its entry, 0 = it is the first */
    struct seen seen; /* when several processes are merged; else no processes */
};

/* Records that probably have one cause, see leak_groups.h. */
struct entry {
    size_t *parts; /* indices of records, the largest first */
    size_t count;
    uint64_t shared; /* name_hash of the function in all headlines; 0 = there is one part */
    uint64_t bytes, blocks;
    struct verdict_total retained;
};

/* The numbers of the summary line. */
struct totals {
    struct verdict_total of[VERDICT_MAX];
    uint64_t growing, errors, resources; /* records */
};

struct untracked {
    const char *name, *words;
    uint64_t count;
    bool estimated;
};

/* A module without full debug information, and what to do about it. */
struct blind_module {
    const char *path, *build_id;
    const char *why;
    const char *remedy;  /* NULL = none */
    const char *package; /* of the system that has the file, NULL = unknown */
    const char *install; /* what has its debug information, NULL = unknown */
    bool runtime;        /* the C library and its like: not worth a warning */
    bool nameless;       /* not even functions are known: signatures differ */
};

/* How stacks were captured: from the stack cache, or by a walk. Most outer frames of a walk are
 * those of the walk before and are only verified. */
struct stacks {
    uint64_t captures, leaf_cache_hits, walks;
    uint64_t frames_walked, frames_shared;
};

/* One of a thread's last calls of free. */
struct recent_free {
    uint64_t address;
    uint64_t time_ns;
    struct thread_ref thread;
    uint32_t kind;      /* enum leak_kind of the allocation */
    struct stack freed; /* if not whole: only the frame of the return address */
    bool whole;
    struct stack allocated;
};

/* A word that contains a pointer into a block. */
struct pointer {
    uint64_t into;                /* offset in the block that it points to */
    const struct root *root;      /* the word is a root; NULL: it is in another block, or unknown */
    uint64_t block, size, offset; /* that block, and the offset of the word; block 0: unknown */
    const struct frame *frame;    /* where that block was allocated, NULL = unknown */
};

/* What the last leak check says of one address, if it was made for that. */
struct address_info {
    uint64_t address;
    bool asked;           /* the leak check was made for it */
    uint64_t block, size; /* that contains the address or ends there; block 0: none does */
    enum verdict verdict;
    uint32_t kind, count; /* count-th allocation of its thread */
    struct thread_ref thread;
    uint64_t time_ns;
    struct stack allocated;
    const struct pointer *pointers; /* roots first */
    size_t pointer_count;
    bool more; /* than were recorded */
};

/* A bad free, which happened `count` times in the same way. Addresses and times are those of the
 * first one. */
struct bad_free {
    uint64_t signature;
    uint32_t type;            /* enum leak_event_type */
    uint32_t form;            /* enum leak_form */
    uint32_t kind;            /* enum leak_kind of the block, NONE = no block, or unknown */
    uint64_t address;         /* as given, 0 = left out */
    uint64_t size;            /* of the block */
    int64_t offset;           /* from its start */
    bool has_block;           /* size and offset are known */
    uint64_t said, right;     /* the size or alignment given, and the correct one, 0 = unknown */
    const char *where;        /* what is at an address that is no block, NULL = unknown */
    struct thread_ref thread; /* serial 0 = unknown */
    struct thread_ref block_thread; /* it allocated the block, as its block_count-th; 0 = unknown */
    uint32_t block_count;
    uint64_t time_ns, count;
    struct stack released, allocated; /* no frames = unknown */
    /* The first free of the block, when this is a double free. */
    uint32_t first_form;
    struct thread_ref first_thread;
    uint64_t first_ns;
    struct stack first;
    bool first_whole; /* else only the frame of the return address */
    /* Pools of the program: of the block, and the one that the call names; NULL = none. */
    const char *block_pool, *call_pool;
    size_t lead; /* index + 1 of the first bad free with the same cause, 0 = it is the first */
};

/* A block that contains an address, or ends before it. */
struct crash_block {
    const char *register_name; /* that contains the address; NULL = it is the fault address */
    uint64_t start, size;
    uint64_t offset; /* of the address from the start; offset >= size: behind the end */
    bool about;      /* the size is rounded up */
    uint32_t kind;   /* enum leak_kind */
    bool was_freed;  /* before the crash: then these follow */
    struct thread_ref freed_by;
    uint64_t freed_ns;
    struct stack freed;
    bool freed_whole; /* else only the frame of the return address */
    struct stack allocated;
};

/* "The `frames` frames before frame `end` repeat `times` more times." */
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
    const char *words;  /* the access: "write to 0x10, 16 bytes behind a null pointer" */
    const char *near;   /* what the address is near, NULL = unknown */
    bool overflow;      /* of the stack */
    bool handed;        /* a handler of the program ran first */
    bool during_look;   /* the crash was during a leak check */
    bool blocks_busy;   /* not all blocks could be searched */
    const char *inside; /* where it happened, for a warning; NULL = in the program */
    bool answers;       /* the allocator's answer to a wrong free, the first of the mistakes */
    uint64_t address;
    bool has_address;
    struct thread_ref thread;
    int32_t tid;
    uint64_t time_ns;
    struct stack stack;
    struct crash_repeat *repeats; /* ascending by end */
    size_t repeat_count;
    uint64_t depth;                 /* number of frames without inlined ones; 0 = left out */
    uint64_t left_out, left_out_at; /* frames missing before frames[left_out_at] */
    struct crash_register *registers;
    size_t register_count;
    struct crash_block *blocks; /* that of the fault address first */
    size_t block_count;
    const char **modules; /* paths of what was loaded */
    size_t module_count;
};

#define RESOURCE_NAMES 8 /* reported of each record */

/* Open resources besides memory, of one kind and stack; or the bad closes of one stack. */
struct resource {
    const char *type;     /* "fd", "file" ...; "double-close", "bad-close" */
    struct record record; /* blocks: how many; bytes; stack, time and thread. Of a bad close: of the
                             closes */
    bool has_bytes;
    bool bad_close;
    bool once; /* opened by a single call and left open, as many correct programs do */
    /* The places where other resources of this type are released, NULL = nowhere: those that the
     * function of the title opens, and those that this caller opens. */
    const struct frame *released_at, *released_of;
    const char *names[RESOURCE_NAMES]; /* different ones */
    size_t name_count;
    bool more_names;
    /* These fields describe a bad close. */
    bool taken;                  /* another resource had the number by then */
    struct stack opened, closed; /* no frames: unknown */
    struct thread_ref closed_by;
};

/* Open when the process began, and still open. */
struct inherited {
    uint64_t number;
    const char *name; /* NULL = unknown */
};

/* The number of resources of one type; the array of these is indexed by enum leak_resource_type. */
struct resource_total {
    const char *type;
    uint64_t opened, open;
};

/* How the last leak check was made. */
struct leak_check {
    uint64_t when_ns;               /* 0 = left out */
    const char *rung;               /* "parked", "unstopped", "none" */
    const char *occasion, *trouble; /* words, NULL = none */
    uint64_t pause_ns, check_ns;
    bool timed;   /* pause_ns and check_ns are known */
    bool made;    /* else `trouble` has the reason */
    bool stopped; /* all threads were stopped */
    bool last;    /* at the exit of the process: its threads still ran */
    uint64_t threads_parked, threads_missed, skipped;
    uint64_t unreadable; /* pages without access that were read as zeros */
    uint32_t milestone;  /* its number as a milestone, 0 = it is none */
};

/* A mark or a leak check: a time that blocks can be older or newer than. */
struct milestone {
    uint32_t number;
    uint64_t time_ns;
    const char *name; /* of a mark, NULL = it is a leak check */
};

/* A root and what it keeps alive, each block counted for the root with the shortest path. */
struct owner {
    const struct root *root;
    const struct path *path; /* to its largest record, NULL = unknown */
    uint64_t bytes, blocks;
    const struct growth *growth; /* of what it keeps alive; NULL = unknown */
};

struct seen_thread {
    struct thread_ref thread; /* serial 0 = it never allocated */
    int32_t tid;
    struct stack stack;
};

struct process {
    const char *store; /* path of the file */
    const char *host, *exe;
    const char **argv;
    size_t argc;
    int32_t pid, ppid;
    uint64_t started_ns, ended_ns, peak_ns;
    uint64_t until_ns; /* the end, or the time of reading; ages are relative to it; 0 = unknown */
    enum end_how how;
    int32_t end_value;
    bool has_end_value;
    bool forked;   /* without exec: it began with the blocks of its parent */
    bool replaced; /* it called exec, and the next program of the process is in the report */
    bool damaged;  /* the file could not be read in full */
    /* What findings may be missing for, as words behind "pid 42: "; NULL = nothing: findings of any
     * kind; verdicts of its blocks. Reasons that are options of the user do not count. */
    const char *gap, *verdict_gap;
    uint64_t sample; /* one sample per that many bytes: sums are estimates. 0 = no sampling */
    bool asked;      /* it allocated, even if nothing was sampled */

    uint64_t allocations, frees, bytes_allocated;
    uint64_t live_bytes, live_blocks, peak_bytes;
    struct error live_error;
    uint64_t unknown_frees;
    uint64_t older_blocks, older_bytes; /* live ones from before libleak was loaded; 0 = unknown */
    uint64_t truncated[8];              /* stacks by their ending, indexed like record.ending */
    uint64_t truncated_stacks;
    /* Comparisons of stacks with those of another unwinder, and their results. */
    uint64_t unwind_checks, unwind_mismatches, unwind_stops;
    uint64_t own_bytes; /* libleak's memory at the end; 0 = unknown */
    int64_t own_astray; /* the part of it that its own counters miss */
    struct stacks stacks;
    struct untracked *untracked;
    size_t untracked_count;
    struct blind_module *blind;
    size_t blind_count;

    struct record *records; /* in the requested order */
    size_t record_count;
    struct entry *entries; /* of all records, in the same order */
    size_t entry_count;
    struct record *grown; /* that grew and are empty now: no blocks, verdict UNFREED */
    size_t grown_count;
    struct moment *history; /* ascending */
    size_t history_count;
    struct moment peak;           /* largest heap; bytes 0: unknown */
    struct milestone *milestones; /* ascending by time */
    size_t milestone_count;
    struct peak_part *peak_parts; /* the largest first; small ones are left out */
    size_t peak_part_count;
    struct temporary_part *temporary; /* the most blocks first; of small sites only the sum */
    size_t temporary_count;
    uint64_t temporary_bytes, temporary_blocks;
    const struct held_at_once *held; /* NULL = much was freed before, or it was small */
    struct allocated *allocated;     /* every stack that allocated, for profile formats */
    size_t allocated_count;
    struct totals totals;
    struct verdict_total suppressed; /* not in the totals */
    struct rule_use *rules;          /* that suppressed them */
    size_t rule_count;
    struct error errors[VERDICT_MAX];  /* of the totals */
    struct recent_free *recent;        /* the requested ones, newest first */
    size_t recent_count, recent_known; /* known: recorded, requested or not */
    const struct address_info *who;    /* what is at an address (--who); NULL = not requested */
    struct bad_free *mistakes;         /* in the order of the file */
    size_t mistake_count;
    struct crash *crash;        /* NULL = none */
    bool crash_only;            /* blocks were not tracked: the option crash=only */
    bool late;                  /* libleak was loaded into a running process */
    bool never_enabled;         /* tracking began disabled (start=off) and was never enabled */
    struct resource *resources; /* reportable ones first, then by descending count */
    size_t resource_count;
    struct inherited *inherited;
    size_t inherited_count;
    struct resource_total *resource_totals; /* of the tracked kinds */
    size_t resource_total_count;
    uint64_t resources_missed; /* without room in the file */
    struct leak_check *look;   /* NULL = none was attempted */
    const char *unchecked;     /* why none was, when one was wanted; NULL = not known */
    struct owner *owners;      /* by descending bytes */
    size_t owner_count;
    struct seen_thread *threads; /* besides the thread of the leak check */
    size_t thread_count;
    const char **notes;
    size_t note_count;
    size_t alike; /* index of the first process with the same findings, which may be itself */
};

struct report {
    const char *host;
    const char
        *debuginfod; /* a server that may have what modules lack, NULL = unknown, or one is set */
    struct process *processes;
    size_t process_count;
    const struct rule **unused; /* rules that match nothing */
    size_t unused_count;
    const struct rule **expired; /* rules past their date */
    size_t expired_count;
};

/* Puts what was asked for first: the last program of the process from which the others descend,
 * as far as that is known, and else of the first process. Sets `replaced`. */
void report_put_lead_first(struct report *report);

/* Something is wrong, or may be. Blocks that are only unfreed are not: no leak check was made. */
bool process_has_findings(const struct process *process);

/* Says whether the process only called exec: it has no findings but unfreed blocks, which vanished
 * with its memory. */
bool process_only_called_exec(const struct process *process);

/* What the process was called: argv[0] without its directory. A title that a server has given itself
 * ("nginx: worker process") is whole. Never NULL. */
const char *process_name(const struct process *process);

/* The last component of a path; NULL gives NULL. */
const char *base_name(const char *path);

/* Code of the user, including wrappers. */
static inline bool frame_is_user_code(const struct frame *frame)
{
    return frame->role == FRAME_USER || frame->role == FRAME_WRAPPER;
}

/* The index of the first frame of the user's code that has a module or a name; count = none. */
size_t frame_first_user(const struct frame *const *frames, size_t count);

/* The function of the frame; else its place in the module, written into the buffer, cut to fit. */
#define FRAME_NAME_SIZE 4128
const char *frame_name(const struct frame *frame, char buffer[FRAME_NAME_SIZE]);

/* The index of the first frame that is no allocator; 0 when all are. */
size_t frame_first_caller(const struct frame *const *frames, size_t count);

/* A record with that stack, so that it can be written like one. */
struct record record_from_stack(const struct stack *stack);

/* The headline frame: the user's, else the first that is no allocator, else the first, else NULL.
 */
const struct frame *record_title_frame(const struct record *record);

/* Says whether the record grew until the end, or until the program freed everything before it
 * exited. */
bool record_is_growing(const struct record *record);

/* Sets record.owned and next_owned from record.owner, in the order of the records. */
void process_link_owned(struct process *process);

/* Leaks were found. Reachable blocks and those of the runtime are none. */
bool process_has_leaks(const struct process *process);

/* Says whether a resource is worth a report: it is open, or was closed, in a way that correct
 * programs avoid. */
bool resource_is_reportable(const struct resource *resource);

/* The name of a crash's type in JSON and XML, a constant as those of bad_free_word(). */
const char *crash_type_name(const struct crash *crash);

/* The sums over all processes, saturating. */
struct totals report_totals(const struct report *report);

uint64_t add_saturating(uint64_t a, uint64_t b);
void verdict_total_add(struct verdict_total *sum, const struct verdict_total *one);

/* ---- Order ----------------------------------------------------------------------------------- */

/* The order of verdicts in a report, the worst first: what is certainly lost, what may be lost,
 * what no leak check classified, what is reachable, and what the runtime keeps. */
int verdict_rank(enum verdict verdict);

/* What decides between records of one verdict. */
enum sort_order {
    SORT_RETAINED, /* bytes that fixing the leak releases */
    SORT_BYTES,    /* of the record itself */
    SORT_COUNT,    /* blocks that fixing the leak releases */
    SORT_AGE,      /* of the first block */
    SORT_GROWTH,   /* bytes per second */
};

/* Compares two records by verdict_rank(), then by `sort`, then by a total order. Negative: a comes
 * first. */
int record_compare(const struct record *a, const struct record *b, enum sort_order sort);

#endif
