/* model.h - what a report is about, ready to be written.
 *
 * report -> processes -> records -> frames. Plain data, complete and sorted: a writer of a format
 * is a pure function of it. Texts may hold any bytes (paths, names of hostile programs): writers
 * escape. Unknown texts are NULL, unknown times 0; everything lives in one arena.
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
    V(INDIRECT, "indirect", "lost with their owner")                                               \
    V(POSSIBLE, "possible", "possibly lost")                                                       \
    V(HIDDEN, "hidden", "held by a hidden pointer")                                                \
    V(REACHABLE, "reachable", "still reachable")                                                   \
    V(RUNTIME, "runtime", "kept by the C and C++ runtime")                                         \
    V(UNFREED, "unfreed", "not freed")

enum verdict {
#define V(name, word, words) VERDICT_##name,
    VERDICT_TABLE(V)
#undef V
        VERDICT_MAX
};

extern const char *const verdict_word[VERDICT_MAX];
extern const char *const verdict_words[VERDICT_MAX];

extern const char *const kind_word[];       /* by enum leak_kind */
extern const char *const form_word[];       /* by enum leak_form; NULL = unknown */
extern const char *const mistake_word[];    /* by enum leak_event_type */
extern const char *const root_class_word[]; /* by enum leak_root_class; NULL = unknown */

enum end_how { END_EXIT, END_SIGNAL, END_EXEC, END_RUNNING, END_LOST };
extern const char *const end_word[];

enum frame_role {
    FRAME_USER,      /* code of the user, as far as one can tell */
    FRAME_RUNTIME,   /* C and C++ libraries, start-up code */
    FRAME_WRAPPER,   /* xmalloc, my_strdup: the user's, but it only passes a size on */
    FRAME_ALLOCATOR, /* malloc, operator new ...: never what a record is about */
};

struct frame {
    const char *function; /* demangled, NULL = unknown */
    const char *symbol;   /* as linkers write it, when that is another word; else NULL */
    const char *file;
    uint32_t line, column; /* 0 = unknown */
    const char *module;    /* path, NULL = in no module */
    const char *build_id;  /* hex digits, NULL = none */
    uint64_t offset;       /* in the module's own addresses, as looked up; in no module: the pc */
    bool has_offset;
    bool inlined; /* into the next frame */
    enum frame_role role;
    uint64_t name_hash; /* of module base name + function: what signatures are made of */
};

struct thread_ref {
    uint32_t serial;
    const char *name;
};

/* How far off sums over a sampled process may be: 95 % half widths, and live samples they rest on.
 * All zero: they are exact. */
struct error {
    uint64_t bytes, blocks;
    uint64_t samples;
};

#define FREED_PLACES 3 /* told of each record, the most frequent first */

struct freed_place {
    const struct frame *frame; /* the user's, in the stack of the free */
    double share;              /* of the frees that were looked at, 0 to 1 */
};

/* Where the other blocks of a record's stacks were freed. Blocks that realloc moved, or that the
 * line which allocates freed as well, are left out of the places. */
struct freed {
    uint64_t blocks; /* of its own stacks that were freed, wherever */
    struct freed_place place[FREED_PLACES];
    size_t places; /* 0 = nothing is known */
    bool
        other_path; /* these stacks freed none: the places are of stacks with the same user frame */
    bool exact;     /* every free was looked at; else the shares are estimates */
    bool enough;    /* … and worth telling */
    bool sampled;   /* the process was: then "blocks" and "of" are estimates, too */
    double late; /* share of the frees that were looked at which came with the end of the program */
    uint64_t of; /* how many frees the shares are of, 0 = not known */
    const struct frame *const *frames; /* the most frequent stack of the first place */
    size_t frame_count;
};

/* Blocks of a record that were pointed at by another one when that was freed. */
struct orphaned {
    uint64_t blocks;                   /* that this is known of; 0 = of none */
    const struct frame *holder;        /* who had allocated the other one, NULL = not known */
    const struct frame *const *frames; /* the stack that freed it */
    size_t frame_count, user;          /* user < frame_count, unless blocks is 0 */
};

struct verdict_total {
    uint64_t bytes, blocks, records;
};

/* What says that a leak is known, see rules.h. */
struct rule {
    const char *text;    /* "leak:pattern", or a name */
    const char *where;   /* "FILE:LINE" */
    const char *reason;  /* NULL = none is given */
    const char *expires; /* the last day, "2027-01-31"; NULL = none */
};

struct rule_use {
    const struct rule *rule;
    struct verdict_total total; /* what it kept quiet */
};

/* A word outside the heap that leads to blocks. */
struct root {
    const char *words;    /* "g_cache (cache.c:12)", "a stack slot of f() (T1)" */
    uint32_t class;       /* enum leak_root_class */
    const char *variable; /* NULL = unknown, like the others */
    const char *function; /* STACKS: whose frame it is; a static local: whose variable */
    const char *file;
    uint32_t line;
    const char *module;       /* path */
    struct thread_ref thread; /* serial 0 = none, or one that never allocated */
    uint64_t offset;          /* of the word in the variable, else in the module or mapping */
    bool has_offset;
};

/* "the word at +offset of what came before points to a block of size bytes, at +into". */
struct path_step {
    uint64_t offset, into, size;
    const struct frame *frame; /* where the block was allocated, NULL = unknown */
    uint64_t signature;
    bool known; /* the signature */
};

/* How a reachable block is reached. */
struct path {
    const struct root *root;
    const struct path_step *steps; /* the last one reaches the block itself */
    size_t count;
    size_t skipped, skipped_at; /* left out before steps[skipped_at]; 0 = none */
};

/* One block of a record. */
struct sample {
    uint64_t address, size; /* address 0 = left out */
    struct thread_ref thread;
    uint32_t count; /* n-th allocation of its thread */
    uint64_t time_ns;
    const uint8_t *content; /* its first bytes, so many; 0 = none known, or left out */
    size_t length;
    bool pointers; /* the content may be addresses */
};

/* A line of the function that a record is about, and what was allocated there. */
struct record_line {
    const struct frame *frame;
    uint64_t bytes, blocks;
};

struct stack {
    const struct frame *const *frames; /* innermost first */
    size_t count;
    uint32_t ending; /* as of a record */
};

/* What a stack allocated in all, with what was freed since. */
struct allocated {
    uint32_t kind; /* enum leak_kind */
    uint64_t blocks, bytes;
    struct stack stack;
};

/* Where a record of several processes was seen. */
struct seen {
    uint64_t processes;
    const char **hosts; /* those that are known */
    size_t host_count;
};

/* How what a record is about came to where it is. */
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

/* What a site held when the heap was largest. */
struct peak_part {
    uint64_t signature;
    uint32_t kind; /* enum leak_kind */
    uint64_t bytes, blocks;
    struct stack stack;
};

/* What was allocated under a tag of the program's. */
struct tag_sum {
    const char *name;
    uint64_t bytes, blocks;
};

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
    uint64_t stacks; /* that this record sums up; the frames are those of the largest */
    size_t user;     /* index of the user frame; frame_count = none */
    const struct record_line *lines; /* of the user frame, the largest first; none = it is one */
    size_t line_count;
    bool more_lines;
    uint32_t ending;            /* enum leak_root or STORE_ROOT_MISSING: how the trace ended */
    const struct tag_sum *tags; /* the largest first; the rest of the blocks is under none */
    size_t tag_count;
    struct freed freed;
    struct freed beside;      /* where nobody frees such blocks: others of the same function */
    struct orphaned orphaned; /* LOST and INDIRECT */

    /* What a look at the heap says of it. */
    struct verdict_total retained; /* what would go with it, itself included; no blocks = unknown */
    bool cycle;                    /* rings of blocks that point at each other: one of each */
    bool dropped;                  /* REACHABLE when the exit code began, by nothing at its end */
    bool ignored;                  /* REACHABLE, since the program said so */
    bool shared;                   /* INDIRECT: some of it hangs under other records, too */
    bool tagged;                   /* POSSIBLE: by pointers whose low bits may be a tag */
    size_t owner;                  /* INDIRECT: index + 1 of the record it hangs under, 0 = none */
    size_t owned, next_owned; /* likewise the first that hangs under this one, and the one after it
                                 under the same; see link_owned() */
    const struct path *path;  /* REACHABLE: how its largest block is reached, or NULL */
    const struct sample *samples;
    size_t sample_count;
    const struct growth
        *growth; /* NULL = not known; told of one record of its stacks, the largest */
    const struct rule *suppressed_by; /* then it counts in no total; NULL = it is not */
    size_t lead;      /* index + 1 of the first record of its entry, 0 = that is itself */
    struct seen seen; /* when it is of several; no processes: it is of one */
};

/* Records whose loss has one cause, most likely, see leak_groups.h. */
struct entry {
    size_t *parts; /* indices of records, the largest first */
    size_t count;
    uint64_t shared; /* name_hash of the function that all are about; 0 = there is one part */
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

/* A module whose frames could not be named in full, and what to do about it. */
struct blind_module {
    const char *path, *build_id;
    const char *why;
    const char *remedy; /* NULL = none */
    bool runtime;       /* the C library and its kin: nobody misses these */
    bool nameless;      /* not even functions are known: signatures are other ones */
};

/* How stacks were found: in the leaf cache, or by a walk, whose outer frames are mostly those of
 * the walk before and were only verified. */
struct stacks {
    uint64_t captures, leaf_cache_hits, walks;
    uint64_t frames_walked, frames_shared;
};

/* One of the last frees of a thread. */
struct recent_free {
    uint64_t address;
    uint64_t time_ns;
    struct thread_ref thread;
    uint32_t kind;      /* enum leak_kind of the allocation */
    struct stack freed; /* without a whole one: what the return address of the free says */
    bool whole;
    struct stack allocated;
};

/* A word that holds a pointer into a block. */
struct pointer {
    uint64_t into;           /* where in the block it points to */
    const struct root *root; /* the word is a root; NULL: it is in another block, or nobody knows */
    uint64_t block, size, offset; /* that one, and where in it; block 0: nobody knows */
    const struct frame *frame;    /* where that was allocated, NULL = unknown */
};

/* What the last look says of one address, if it was taken for that. */
struct who {
    uint64_t address;
    bool asked;           /* it was */
    uint64_t block, size; /* that it is in, or just behind; block 0: in none */
    enum verdict verdict;
    uint32_t kind, count; /* count-th allocation of its thread */
    struct thread_ref thread;
    uint64_t time_ns;
    struct stack allocated;
    const struct pointer *pointers; /* those in roots first */
    size_t pointer_count;
    bool more; /* than were written down */
};

/* A release of a block that was wrong, in the same way count times. The addresses and times are of
 * the first one. */
struct mistake {
    uint64_t signature;
    uint32_t type;            /* enum leak_event_type */
    uint32_t form;            /* enum leak_form */
    uint32_t kind;            /* enum leak_kind of the block, NONE = it is no block, or not known */
    uint64_t address;         /* as given, 0 = left out */
    uint64_t size;            /* of the block */
    int64_t offset;           /* from its start */
    bool has_block;           /* these two hold */
    uint64_t said, right;     /* the size or alignment said; and what it is, 0 = unknown */
    const char *where;        /* what lies there that is no block, NULL = nothing is known */
    struct thread_ref thread; /* serial 0 = unknown */
    struct thread_ref
        block_thread; /* that allocated the block, and as its which one; 0 = unknown */
    uint32_t block_count;
    uint64_t time_ns, count;
    struct stack released, allocated; /* no frames = unknown */
    /* It had been freed before. */
    uint32_t first_form;
    struct thread_ref first_thread;
    uint64_t first_ns;
    struct stack first;
    bool first_whole; /* else that is what its return address says */
    /* The program's own: which the block is of, and which the call names; may hold any bytes; NULL
     * = none. */
    const char *block_pool, *call_pool;
};

/* A block that an address is in, or behind the end of. */
struct crash_block {
    const char *register_name; /* that holds the address; NULL = it is the fault's */
    uint64_t start, size;
    uint64_t offset; /* of the address from its start; offset >= size: so far behind its end */
    bool about;      /* the size is rounded up */
    uint32_t kind;   /* enum leak_kind */
    bool was_freed;  /* by the time of the crash: then these follow */
    struct thread_ref freed_by;
    uint64_t freed_ns;
    struct stack freed;
    bool freed_whole; /* else that is what its return address says */
    struct stack allocated;
};

/* "these frames, up to and including the frame before this one, come so many times more" */
struct crash_repeat {
    size_t end, frames;
    uint64_t times;
};

struct crash_register {
    const char *name;
    uint64_t value;
};

/* A signal that killed the process. */
struct crash {
    uint64_t signature;
    int32_t signal, code;
    const char *name;   /* "SIGSEGV" */
    const char *words;  /* what was done: "write to 0x10, 16 bytes behind a null pointer" */
    const char *near;   /* what the address is near, NULL = nothing is known */
    bool overflow;      /* of the stack */
    bool handed;        /* the program's own handler had it first */
    bool during_look;   /* at the heap */
    bool blocks_busy;   /* not all blocks could be looked through */
    const char *inside; /* of what it happened, for a warning; NULL = of the program */
    uint64_t address;
    bool has_address;
    struct thread_ref thread;
    int32_t tid;
    uint64_t time_ns;
    struct stack stack;
    struct crash_repeat *repeats; /* ascending by end */
    size_t repeat_count;
    uint64_t depth;                 /* frames there were, inlined ones aside; 0 = left out */
    uint64_t left_out, left_out_at; /* so many frames are missing before frames[left_out_at] */
    struct crash_register *registers;
    size_t register_count;
    struct crash_block *blocks; /* the fault's first */
    size_t block_count;
    const char **modules; /* paths of what was loaded */
    size_t module_count;
};

#define RESOURCE_NAMES 8 /* told of each record, the first ones */

/* What is open besides memory, of one kind and stack; or closes by one stack of what was not. */
struct resource {
    const char *type;     /* "fd", "file" ...; "double-close", "bad-close" */
    struct record record; /* blocks: how many; bytes; stack, when and by whom. Of a bad close: the
                             closes */
    bool has_bytes;
    bool bad_close;
    bool once; /* opened by a single call, and left open: what many right programs do */
    const char *names[RESOURCE_NAMES]; /* different ones */
    size_t name_count;
    bool more_names;
    /* Of a bad close. */
    bool taken;                  /* the number was another one's by then */
    struct stack opened, closed; /* no frames: nobody knows */
    struct thread_ref closed_by;
};

/* Open when the process began, and still. */
struct inherited {
    uint64_t number;
    const char *name; /* NULL = unknown */
};

/* By enum leak_resource_type. */
struct resource_total {
    const char *type;
    uint64_t opened, open;
};

/* How the last look at the heap was made. */
struct look {
    uint64_t when_ns;               /* 0 = left out */
    const char *rung;               /* "parked", "unstopped", "none" */
    const char *occasion, *trouble; /* words, NULL = none */
    uint64_t pause_ns, check_ns;
    bool timed;   /* these are told */
    bool made;    /* else the trouble says why not */
    bool stopped; /* with all threads parked */
    bool last;    /* at the end of the process: the threads it saw were still there */
    uint64_t threads_parked, threads_missed, skipped;
    uint32_t milestone; /* its own, 0 = it is none */
};

/* A moment that blocks can be older or newer than. */
struct milestone {
    uint32_t number;
    uint64_t time_ns;
    const char *name; /* of a mark, NULL = it is a look's */
};

/* A root and what is reached from it on the shortest way. */
struct owner {
    const struct root *root;
    const struct path *path; /* to its largest record, NULL = not told */
    uint64_t bytes, blocks;
    const struct growth *growth; /* of what it keeps; NULL = cannot be told */
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
    uint64_t until_ns; /* the end, or the time of reading: ages count from here; 0 = unknown */
    enum end_how how;
    int32_t end_value;
    bool has_end_value;
    bool forked;     /* without exec: what it saw at first was its parent's */
    bool damaged;    /* the store could not be read in full */
    uint64_t sample; /* one byte in that many was looked at: sums are estimates. 0 = all were */
    bool asked;      /* it allocated, whether a sample was met or not */

    uint64_t allocations, frees, bytes_allocated;
    uint64_t live_bytes, live_blocks, peak_bytes;
    struct error live_error;
    uint64_t unknown_frees;
    uint64_t truncated[8]; /* stacks by how they ended, indexed like struct record's ending */
    uint64_t truncated_stacks;
    /* Stacks compared with those of another unwinder, and what came of it. */
    uint64_t unwind_checks, unwind_mismatches, unwind_stops;
    uint64_t own_bytes; /* libleak's memory at the end; 0 = not known … */
    int64_t own_astray; /* … and how much more that is than what it knows to have */
    struct stacks stacks;
    struct untracked *untracked;
    size_t untracked_count;
    struct blind_module *blind;
    size_t blind_count;

    struct record *records; /* sorted as asked for */
    size_t record_count;
    struct entry *entries; /* of all records, sorted likewise */
    size_t entry_count;
    struct record *grown; /* that grew, and of which nothing is left: no blocks, verdict UNFREED */
    size_t grown_count;
    struct moment *history; /* ascending */
    size_t history_count;
    struct moment peak;           /* when these lived; bytes 0: not known */
    struct milestone *milestones; /* ascending by time */
    size_t milestone_count;
    struct peak_part *peak_parts; /* the largest first; others are left out */
    size_t peak_part_count;
    struct allocated *allocated; /* every stack that did, for formats that want it */
    size_t allocated_count;
    struct totals totals;
    struct verdict_total suppressed; /* in none of them */
    struct rule_use *rules;          /* by which */
    size_t rule_count;
    struct error errors[VERDICT_MAX];  /* of the totals */
    struct recent_free *recent;        /* those asked for, newest first */
    size_t recent_count, recent_known; /* known: all that there are, asked for or not */
    const struct who *who;             /* NULL = nobody wants to know */
    struct mistake *mistakes;          /* in the order they were met */
    size_t mistake_count;
    struct crash *crash;        /* NULL = none */
    bool crash_only;            /* blocks were not tracked: the option crash=only */
    bool late;                  /* loaded while the process ran already */
    bool never_enabled;         /* it began disabled, start=off and its like, and stayed so */
    struct resource *resources; /* what matters first, then by falling count */
    size_t resource_count;
    struct inherited *inherited;
    size_t inherited_count;
    struct resource_total *resource_totals; /* of the kinds that were followed */
    size_t resource_total_count;
    uint64_t resources_missed; /* no room for them */
    struct look *look;         /* NULL = none, and nobody tried */
    struct owner *owners;      /* by falling bytes */
    size_t owner_count;
    struct seen_thread *threads; /* there beside the one that took the look */
    size_t thread_count;
    const char **notes;
    size_t note_count;
    size_t alike; /* index of the first process that shows the same; its own = none before */
};

struct report {
    const char *host;
    struct process *processes;
    size_t process_count;
    const struct rule **unused; /* rules that fit nothing */
    size_t unused_count;
    const struct rule **expired; /* rules that would, perhaps */
    size_t expired_count;
};

/* The last component of a path; NULL gives NULL. */
const char *base_name(const char *path);

/* Of the user's own code, be it one that only passes a size on. */
static inline bool frame_is_users(const struct frame *frame)
{
    return frame->role == FRAME_USER || frame->role == FRAME_WRAPPER;
}

/* Index of the first frame of the user's own code, preferably one that can be named; count = none.
 */
size_t frame_user(const struct frame *const *frames, size_t count);

/* The frame's function; else its place in its module, written into the buffer and cut to fit. */
#define FRAME_NAME_SIZE 4128
const char *frame_name(const struct frame *frame, char buffer[FRAME_NAME_SIZE]);

/* Index of the first frame that is no allocator; 0 when all are. */
size_t frame_first(const struct frame *const *frames, size_t count);

/* A stack is shown as that of a record is. */
struct record record_of_stack(const struct stack *stack);

/* The frame a record is about: the user's, else the first that is no allocator, else NULL. */
const struct frame *record_title(const struct record *record);

/* Did it grow until the end, or until somebody tidied up for the end? */
bool record_grows(const struct record *record);

/* Links the records that hang under one, in their order. */
void link_owned(struct process *process);

/* Was something found that should not be there? Reachable blocks and the runtime's are no loss. */
bool has_losses(const struct process *process);

/* Was something else left open, or closed, than right programs do? */
bool has_resources(const struct process *process);
bool resource_matters(const struct resource *resource);

/* As mistake_word. */
const char *crash_type(const struct crash *crash);

/* Sums over all processes, saturating. */
struct totals report_totals(const struct report *report);

uint64_t add_saturating(uint64_t a, uint64_t b);
void total_add(struct verdict_total *sum, const struct verdict_total *one);

#endif
