/* python_frames.c - reads the chain of Python frames of a thread, and merges it with the C
 * frames. */
#include "preload/python/python.h"
#include "preload/python/python_layout.h"
#include "preload/memory/arena.h"
#include "preload/base/wide.h"

#define FRAMES UNWIND_DEPTH_MAX
#define NUMBERS 4096 /* number of slots for stacks that a thread remembers; a power of two */
/* Number of entries of the hash table that leads from a frame's address to its index; a power of
 * two. */
#define PLACES 256

/* A Python frame of the chain, as it was when it was read last. */
struct python_frame {
    /* Address of the frame; its pointer to the code object; its field for the current
     * instruction. */
    uintptr_t frame, code, instruction;
    uint64_t hash; /* hash of this frame and all frames further out */
    uint32_t id;   /* id of the recorded function; 0: none, or not known */
    uint32_t at;   /* offset of the instruction in the code */
    bool ends_run; /* the frame is the outermost one of those that its C frame executes */
};

/* A frame of a merged stack under construction. */
struct merged_step {
    uintptr_t pc;
    uint32_t retired;
};

struct python_thread {
    /* The chain that was read last, outermost frame first, so that frames shared with the next
     * chain keep their index. It is valid if `open` is false and no code object was freed since
     * then: codes_generation is the number of code objects that had been freed. */
    uint32_t count, codes_generation;
    /* The chain is being read; if this is still true at the next call, a signal handler has left by
     * longjmp. */
    bool open;
    /* The pointer to the next outer frame in the outermost frame that was read; 0: the chain ended
     * there. */
    uintptr_t beyond;
    uintptr_t cframe; /* word on the C stack that belongs to the innermost run of frames; 0: none */
    /* A Python thread state that belonged to another thread when it was examined. */
    uintptr_t foreign;
    struct python_idle idle; /* used until the layout is verified */
    uint64_t limit_power;
    /* The largest number of frames of the chain that a call stack gets, counted from the innermost
     * one. */
    uint32_t limit;
    /* By hash of its address: index + 1 of a frame that may be in the chain. */
    uint16_t place[PLACES];
    struct python_frame frame[FRAMES];
    /* Scratch: the frames that were not in the last chain, innermost first. */
    uintptr_t fresh[FRAMES];
    struct {
        uint64_t key;
        uint32_t number;
    } known[NUMBERS];
    struct merged_step inner[FRAMES]; /* scratch: the merged stack, innermost frame first */
    uint32_t inner_count;
    struct unwind_trace merged;
};

struct python_thread *python_thread_of(struct python_thread **place)
{
    if (unlikely(!*place))
        *place = arena_map(sizeof **place);
    return *place;
}

void python_thread_clear(struct python_thread *python)
{
    memset(python->known, 0, sizeof python->known);
    python->count = 0;
    unwind_invalidate(&python->merged);
}

/* ---- Reading the chain -----------------------------------------------------------------------
 *
 * New frames are read from the innermost one outwards, until a frame is found that the last chain
 * had, too. From there on frames are compared: a frame whose caller, code and instruction are the
 * same words, as are those of all frames further out, keeps its hash. The hash of every other frame
 * is computed anew. A frame is read only after a frame further in was found to point to it: a frame
 * that no longer exists may be unmapped. */

static inline uint64_t mix(uint64_t a, uint64_t b)
{
    wide product = wide_multiply(a ^ 0x9e3779b97f4a7c15ull, b ^ 0xa0761d6478bd642full);
    return wide_shift(product, 0) ^ wide_shift(product, 64);
}

/* The hash of a chain is a polynomial in this factor, so the hash of the inner frames alone can be
 * computed from two values of the polynomial. */
#define HASH_FACTOR 0xd6e8feb86659fd93ull

static inline uint16_t *place_of(struct python_thread *python, uintptr_t frame)
{
    return &python->place[frame / WORD * 0x9e3779b1u >> 8 & (PLACES - 1)];
}

/* Finds a frame in the last chain: its index + 1. 0: the chain does not have it, or another frame
 * has replaced it in the hash table. */
static inline uint32_t find_kept(struct python_thread *python, uintptr_t frame)
{
    uint32_t at = *place_of(python, frame);
    return at && at <= python->count && python->frame[at - 1].frame == frame ? at : 0;
}

static inline uintptr_t frame_instruction(const struct python_layout *layout, uintptr_t frame)
{
    if (layout->code.instructions)
        return python_word(frame, layout->frame.instruction);
    return *(const uint32_t *)(frame + layout->frame.instruction);
}

static inline bool frame_ends_run(const struct python_layout *layout, uintptr_t frame)
{
    uint8_t mark = *(const uint8_t *)(frame + layout->frame.owner);
    return layout->chain == PYTHON_CFRAMES ? mark
           : layout->chain == PYTHON_SHIMS ? mark == PYTHON_OWNER_C_STACK
                                           : true;
}

static inline uint32_t instruction_offset(const struct python_layout *layout,
                                          const struct python_frame *frame)
{
    int64_t at;
    if (layout->code.instructions)
        at = frame->instruction - frame->code - layout->code.instructions;
    else /* Python 3.10 counts in units of two bytes, 3.9 in bytes */
        at = (int64_t)(int32_t)frame->instruction *
             (layout->line_table == LEAK_LINE_TABLE_3_9 ? 1 : 2);
    /* Before the first instruction the offset is negative; 0 is recorded then. */
    return at > 0 && at < 1 << 28 ? at : 0;
}

/* Reads the frame with this index; all frames further out must have been read. */
static ALWAYS_INLINE void fill_frame(struct python_thread *python,
                                     const struct python_layout *layout, uint32_t index)
{
    struct python_frame *frame = &python->frame[index];
    bool ends_run = frame_ends_run(layout, frame->frame);
    bool is_shim = layout->chain == PYTHON_SHIMS && ends_run;
    frame->code = python_word(frame->frame, layout->frame.code);
    frame->instruction = frame_instruction(layout, frame->frame);
    frame->ends_run = ends_run;
    frame->id = is_shim ? 0 : python_code_id(frame->code);
    frame->at = frame->id ? instruction_offset(layout, frame) : 0;
    uint64_t outer = index ? frame[-1].hash : 1;
    frame->hash = outer * HASH_FACTOR + mix((uint64_t)frame->id << 32 | frame->at, ends_run);
    *place_of(python, frame->frame) = index + 1;
}

/* Says whether a frame of the last chain differs from what memory has there now. If instruction is
 * a pointer, it differs for each code object, so the code need not be compared. */
static ALWAYS_INLINE bool is_changed(const struct python_layout *layout,
                                     const struct python_frame *kept)
{
    uintptr_t change = kept->instruction ^ frame_instruction(layout, kept->frame);
    if (!layout->code.instructions)
        change |= kept->code ^ python_word(kept->frame, layout->frame.code);
    if (layout->chain == PYTHON_CFRAMES)
        change |= kept->ends_run ^ frame_ends_run(layout, kept->frame);
    return change;
}

/* Compares the frames of the last chain from index kept - 1 outwards. *unchanged: how many
 * outermost frames are equal. False: the frames are linked in another way, so the chain is a
 * different one. */
static ALWAYS_INLINE bool compare_kept(const struct python_thread *python,
                                       const struct python_layout *layout, uint32_t kept,
                                       uint32_t *unchanged)
{
    const struct python_frame *frame = &python->frame[kept], *changed = frame;
    while (frame-- > python->frame) {
        uintptr_t next = likely(frame > python->frame) ? frame[-1].frame : python->beyond;
        bool continues = python_word(frame->frame, layout->frame.previous) == next;
        if (likely(continues & !is_changed(layout, frame)))
            continue;
        if (!continues)
            return false;
        changed = frame;
    }
    *unchanged = changed - python->frame;
    return true;
}

/* Reads the chain from the innermost frame outwards until it meets a frame of the last chain:
 * returns how many frames of that chain remain. *fresh: the number of frames before it. */
static ALWAYS_INLINE uint32_t find_fresh(struct python_thread *python,
                                         const struct python_layout *layout, uintptr_t frame,
                                         uint32_t *fresh)
{
    uint32_t kept = 0;
    for (*fresh = 0; frame && frame % WORD == 0 && *fresh < FRAMES; (*fresh)++) {
        if ((kept = find_kept(python, frame)))
            return kept;
        python->fresh[*fresh] = frame;
        frame = python_word(frame, layout->frame.previous);
    }
    python->beyond = frame;
    return 0;
}

static ALWAYS_INLINE void read_chain_by(struct python_thread *python,
                                        const struct python_layout *layout, uintptr_t frame)
{
    uint32_t fresh, unchanged = 0, kept = find_fresh(python, layout, frame, &fresh);
    if (kept && (kept + fresh > FRAMES || !compare_kept(python, layout, kept, &unchanged))) {
        python->count = unchanged = 0;
        kept = find_fresh(python, layout, frame, &fresh);
    }
    for (uint32_t i = unchanged; i < kept; i++)
        fill_frame(python, layout, i);
    python->count = kept + fresh;
    for (uint32_t i = kept; i < python->count; i++) {
        python->frame[i].frame = python->fresh[python->count - 1 - i];
        fill_frame(python, layout, i);
    }
}

/* Reads the chain of frames. Each version of Python has its own call, in which the row of the table
 * is a constant for the compiler. */
static void read_chain(struct python_thread *python, uintptr_t frame)
{
    switch (python_runtime.layout->version) {
    case 0x309:
        read_chain_by(python, &python_layouts[0], frame);
        break;
    case 0x30a:
        read_chain_by(python, &python_layouts[1], frame);
        break;
    case 0x30b:
        read_chain_by(python, &python_layouts[2], frame);
        break;
    case 0x30c:
        read_chain_by(python, &python_layouts[3], frame);
        break;
    case 0x30d:
        read_chain_by(python, &python_layouts[4], frame);
        break;
    }
}

/* Finds the innermost frame of a Python thread state; *cframe: the word on the C stack that belongs
 * to its run. */
static uintptr_t innermost_frame(uintptr_t state, uintptr_t *cframe)
{
    const struct python_layout *layout = python_runtime.layout;
    *cframe = layout->state.cframe ? python_word(state, layout->state.cframe) : 0;
    if (layout->state.frame)
        return python_word(state, layout->state.frame);
    return *cframe ? python_word(*cframe, layout->cframe.frame) : 0;
}

/* Finds the Python thread state with which the calling thread runs Python. A thread that has
 * released the interpreter will continue with that state; a thread that runs a subinterpreter has
 * another one than at first. */
static uintptr_t find_state(struct python_thread *python)
{
    uintptr_t current =
        python_runtime.current_state ? (uintptr_t)python_runtime.current_state() : 0;
    if (current && python_runtime.current_is_own)
        return current;
    uintptr_t own = (uintptr_t)python_runtime.own_state();
    if (likely(!own || !current || current == own || current == python->foreign))
        return own;
    if (python_is_own_state(current))
        return current;
    python->foreign = current;
    return own;
}

static void set_limit(struct python_thread *python, uint32_t limit)
{
    python->limit = limit;
    python->limit_power = 1;
    for (uint32_t i = 0; i < limit; i++)
        python->limit_power *= HASH_FACTOR;
}

bool python_read_frames(struct python_thread *python, const struct unwind_bounds *bounds,
                        uintptr_t sp, unsigned limit)
{
    uint32_t state = load_acquire(&python_runtime.state);
    if ((state != PYTHON_FOUND && state != PYTHON_VERIFIED) || !bounds->high)
        return false;
    uintptr_t thread = find_state(python), cframe;
    if (!thread || (unlikely(state == PYTHON_FOUND) && (python_is_idle(&python->idle, thread) ||
                                                        !python_verify(thread, &python->idle))))
        return false;
    uintptr_t frame = innermost_frame(thread, &cframe);
    if (!frame || frame % WORD)
        return false;
    if (unlikely(python->limit != limit))
        set_limit(python, limit);
    uint32_t generation = load_relaxed(&python_codes.generation);
    if (unlikely(python->open || python->codes_generation != generation))
        python->count = 0;
    python->codes_generation = generation;
    python->open = true;
    __asm__ volatile("" ::: "memory");
    read_chain(python, frame);
    __asm__ volatile("" ::: "memory");
    python->open = false;
    /* The first _PyCFrame of a thread is not on its C stack, so it identifies no C frame. */
    python->cframe = cframe >= sp && cframe < bounds->high ? cframe : 0;
    return python->count > 0;
}

/* ---- Stacks that were recorded before -------------------------------------------------------- */

/* Returns the index, in python->frame, of the outermost frame that call stacks contain; their depth
 * is limited. */
static uint32_t first_frame(const struct python_thread *python)
{
    return python->count > python->limit ? python->count - python->limit : 0;
}

static uint64_t stack_key(const struct python_thread *python, uint32_t node, unsigned sort)
{
    uint64_t hash = python->frame[python->count - 1].hash;
    uint32_t first = first_frame(python);
    if (unlikely(first))
        hash -= python->frame[first - 1].hash * python->limit_power;
    uint64_t key = mix(hash, (uint64_t)node << 32 | sort);
    return key + !key;
}

uint32_t python_find_number(const struct python_thread *python, uint32_t node, unsigned sort)
{
    uint64_t key = stack_key(python, node, sort);
    return python->known[key % NUMBERS].key == key ? python->known[key % NUMBERS].number : 0;
}

void python_remember(struct python_thread *python, uint32_t node, unsigned sort, uint32_t number)
{
    uint64_t key = stack_key(python, node, sort);
    /* The key is 0 while the entry is written, so that a signal handler uses no half-written
     * entry. */
    python->known[key % NUMBERS].key = 0;
    __asm__ volatile("" ::: "memory");
    python->known[key % NUMBERS].number = number;
    __asm__ volatile("" ::: "memory");
    python->known[key % NUMBERS].key = key;
}

/* ---- Merging Python frames and C frames ------------------------------------------------------ */

/* A run: the Python frames that one C frame executes, frame[first .. end-1]. */
struct python_run {
    uint32_t first, end;
    uintptr_t word; /* a word in the stack frame of the interpreter's C function; 0: unknown */
    uintptr_t cframe;
};

/* Finds the _PyCFrame of the next outer call of the interpreter, which is on the C stack. 0: there
 * is none; the first one of a thread is in the thread's state. */
static uintptr_t next_cframe(uintptr_t cframe, const struct unwind_bounds *bounds)
{
    uintptr_t next = cframe ? python_word(cframe, python_runtime.layout->cframe.previous) : 0;
    return next % WORD == 0 && next > cframe && next < bounds->high ? next : 0;
}

/* Finds the run whose innermost frame has index end - 1. */
static struct python_run run_of(const struct python_thread *python, uint32_t end, uintptr_t cframe)
{
    struct python_run run = {.end = end, .word = cframe, .cframe = cframe};
    uint32_t outermost = first_frame(python);
    for (run.first = end; run.first > outermost;)
        if (python->frame[--run.first].ends_run)
            break;
    if (python_runtime.layout->chain == PYTHON_SHIMS)
        run.word = end > outermost && python->frame[run.first].ends_run
                       ? python->frame[run.first].frame
                       : 0;
    return run;
}

static bool is_there(const struct python_run *run)
{
    return run->first < run->end;
}

/* Says whether the chain has frames beyond the limit, which are left out. */
static bool is_truncated(const struct python_thread *python)
{
    return first_frame(python) > 0 || python->beyond;
}

static struct python_run next_run(const struct python_thread *python, const struct python_run *run,
                                  const struct unwind_bounds *bounds)
{
    return run_of(python, run->first, next_cframe(run->cframe, bounds));
}

/* Says whether the C frame that executes a run can only be recognised by its function, because no
 * word of its stack frame is known. next: stack pointer of the C frame's caller. */
static bool is_told_by_name(const struct python_run *run, uintptr_t next)
{
    return !run->word || !next;
}

static bool executes(const struct python_run *run, const struct unwind_step *step, uintptr_t next)
{
    if (!is_told_by_name(run, next))
        return run->word < next;
    return step->pc - 1 - python_runtime.evaluate <
           python_runtime.evaluate_end - python_runtime.evaluate;
}

/* Appends a frame to the merged stack. False: there is no room. */
static bool add_step(struct python_thread *python, uintptr_t pc, uint32_t retired)
{
    if (python->inner_count == FRAMES)
        return false;
    python->inner[python->inner_count++] = (struct merged_step){pc, retired};
    return true;
}

static bool add_run(struct python_thread *python, const struct python_run *run)
{
    for (uint32_t i = run->end; i-- > run->first;) {
        const struct python_frame *frame = &python->frame[i];
        if (frame->id && !add_step(python, LEAK_CODE_PC + frame->at, LEAK_NODE_CODE | frame->id))
            return false;
    }
    return true;
}

/* Merges the C frames with the runs that they execute, from the innermost frame outwards. Runs
 * whose C frame is not in the trace follow at the end. False: the stack had to be truncated. */
static bool merge_frames(struct python_thread *python, const struct unwind_bounds *bounds,
                         const struct unwind_trace *trace)
{
    struct python_run run = run_of(python, python->count, python->cframe);
    for (unsigned i = 0; i < trace->depth; i++) {
        const struct unwind_step *step = unwind_step_at(trace, i);
        uintptr_t next = i + 1 < trace->depth ? unwind_step_at(trace, i + 1)->sp : 0;
        while (is_there(&run) && executes(&run, step, next)) {
            bool by_name = is_told_by_name(&run, next);
            if (!add_run(python, &run))
                return false;
            run = next_run(python, &run, bounds);
            if (!is_there(&run) && is_truncated(python))
                return false;
            if (by_name)
                break; /* a C frame executes one run only */
        }
        if (!add_step(python, step->pc, step->retired))
            return false;
    }
    for (; is_there(&run); run = next_run(python, &run, bounds))
        if (!add_run(python, &run))
            return false;
    return !is_truncated(python);
}

/* Moves the merged stack to python->merged. The outermost frames that the last merged stack had,
 * too, are left as they are, with the nodes that the context tree has for them. */
static void share_steps(struct python_thread *python, enum leak_root end)
{
    struct unwind_trace *merged = &python->merged;
    uint32_t count = python->inner_count, shared = 0;
    const struct merged_step *outermost = python->inner + count - 1;
    if (merged->shareable && merged->end == end)
        while (shared < count && shared < merged->depth &&
               merged->step[shared].pc == outermost[-(int)shared].pc &&
               merged->step[shared].retired == outermost[-(int)shared].retired)
            shared++;
    for (uint32_t i = shared; i < count; i++)
        merged->step[i] = (struct unwind_step){.pc = outermost[-(int)i].pc,
                                               .retired = outermost[-(int)i].retired};
    merged->end = end;
    merged->depth = count;
    merged->shared = shared;
    merged->paths = false;
    merged->shareable = true;
}

struct unwind_trace *python_merge(struct python_thread *python, const struct unwind_bounds *bounds,
                                  const struct unwind_trace *trace)
{
    python->inner_count = 0;
    bool complete = merge_frames(python, bounds, trace);
    share_steps(python, complete ? trace->end : LEAK_ROOT_DEPTH);
    return &python->merged;
}
