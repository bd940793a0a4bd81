/* python_frames.c - the chain of Python frames of a thread, and its place between the C frames. */
#include "preload/python/python.h"
#include "preload/python/python_layout.h"
#include "preload/memory/arena.h"
#include "preload/base/wide.h"

#define NUMBERS 1024 /* stacks that a thread remembers; a power of two */

struct python_frame {
    uintptr_t code;
    uint32_t at; /* offset of its instruction */
};

/* The place that a walk along the chain has reached: a frame, and the word on the C stack that goes
 * with it. */
struct python_at {
    uintptr_t frame, cframe;
};

/* Frames that one C frame executes. */
struct python_run {
    uintptr_t word; /* on the C stack, in the interpreter's frame; 0: unknown */
    uint32_t end;   /* index of the first frame that is not in it */
};

struct python_thread {
    uint64_t key; /* of the chain */
    uint32_t frame_count, run_count;
    bool truncated; /* the chain goes on */
    struct python_frame frame[UNWIND_DEPTH_MAX];
    struct python_run run[UNWIND_DEPTH_MAX];
    struct {
        uint64_t key;
        uint32_t number;
    } known[NUMBERS];
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
}

/* ---- Reading the chain ----------------------------------------------------------------------- */

static inline uint64_t mix(uint64_t a, uint64_t b)
{
    wide product = wide_multiply(a ^ 0x9e3779b97f4a7c15ull, b ^ 0xa0761d6478bd642full);
    return wide_shift(product, 0) ^ wide_shift(product, 64);
}

static inline uint64_t rotate(uint64_t word, unsigned bits)
{
    return word << bits | word >> (64 - bits);
}

/* The last characters of a string: names that a program makes up mostly differ there. */
static inline uint64_t string_print(const struct python_layout *layout, uintptr_t string)
{
    uint64_t length = python_word(string, PYTHON_LENGTH), last = 0;
    uint32_t state = *(const uint32_t *)(string + PYTHON_STRING_STATE);
    bool is_ascii = (state & 0x60) == 0x60; /* compact and ascii */
    if (likely(is_ascii && length >= sizeof last))
        memcpy(&last, (const char *)string + layout->string.ascii + length - sizeof last,
               sizeof last);
    return last + rotate(length, 48);
}

/* A code object may be freed and another one made at its address, perhaps with names at the same
 * addresses, too. What is compared are these addresses, the line, and some of the content. */
static inline uint64_t code_print(const struct python_layout *layout, uintptr_t code)
{
    uintptr_t file = python_word(code, layout->code.file);
    uintptr_t lines = python_word(code, layout->code.lines);
    uint64_t line = *(const uint32_t *)(code + layout->code.first_line);
    uint64_t print = file ^ rotate(lines, 17) ^ rotate(python_word(code, layout->code.name), 34) ^
                     rotate(line, 51);
    if (unlikely(python_word(file, PYTHON_TYPE) != python_runtime.string_type ||
                 python_word(lines, PYTHON_TYPE) != python_runtime.bytes_type))
        return print;
    return print + string_print(layout, file) + rotate(python_word(lines, PYTHON_LENGTH), 23) +
           rotate(python_word(lines, PYTHON_BYTES_CONTENT), 7);
}

static inline uint32_t instruction_offset(const struct python_layout *layout, uintptr_t frame,
                                          uintptr_t code)
{
    int64_t at;
    if (layout->code.instructions)
        at = python_word(frame, layout->frame.instruction) - code - layout->code.instructions;
    else /* since 3.10 in units of two bytes */
        at = *(const int32_t *)(frame + layout->frame.instruction) *
             (layout->line_table == LEAK_LINE_TABLE_3_9 ? 1 : 2);
    return at > 0 && at < 1 << 28 ? at : 0; /* before the first instruction it is negative */
}

static ALWAYS_INLINE void add_frame(struct python_thread *python,
                                    const struct python_layout *layout, uintptr_t frame)
{
    uintptr_t code = python_word(frame, layout->frame.code);
    if (unlikely(code % WORD || code < LEAK_PAGE ||
                 python_word(code, PYTHON_TYPE) != python_runtime.code_type))
        return;
    uint32_t at = instruction_offset(layout, frame, code);
    python->frame[python->frame_count++] = (struct python_frame){.code = code, .at = at};
    python->key = mix(python->key + at, code ^ code_print(layout, code));
}

static inline void end_run(struct python_thread *python, uintptr_t word)
{
    python->run[python->run_count++] =
        (struct python_run){.word = word, .end = python->frame_count};
    python->key = rotate(python->key, 1);
}

/* The next one further out; 0: it is not on the C stack, as the first one of a thread. */
static uintptr_t next_cframe(uintptr_t cframe, const struct unwind_bounds *bounds)
{
    uintptr_t next = cframe ? python_word(cframe, python_runtime.layout->cframe.previous) : 0;
    return next % WORD == 0 && next > cframe && next < bounds->high ? next : 0;
}

/* Reads one frame. False: it was the last one, or the next one is invalid. */
static ALWAYS_INLINE bool read_frame(struct python_thread *python,
                                     const struct python_layout *layout, struct python_at *at,
                                     const struct unwind_bounds *bounds)
{
    uint8_t mark = *(const uint8_t *)(at->frame + layout->frame.owner);
    bool is_shim = layout->chain == PYTHON_SHIMS && mark == PYTHON_OWNER_C_STACK;
    bool is_outermost = layout->chain == PYTHON_CFRAMES ? mark : layout->chain != PYTHON_SHIMS;
    if (!is_shim)
        add_frame(python, layout, at->frame);
    if (is_shim || is_outermost) {
        end_run(python, is_shim ? at->frame : at->cframe);
        at->cframe = next_cframe(at->cframe, bounds);
    }
    at->frame = python_word(at->frame, layout->frame.previous);
    return at->frame && at->frame % WORD == 0;
}

static ALWAYS_INLINE void read_chain_by(struct python_thread *python,
                                        const struct python_layout *layout, struct python_at at,
                                        const struct unwind_bounds *bounds, unsigned limit)
{
    while (read_frame(python, layout, &at, bounds))
        if (python->frame_count >= limit || python->run_count >= limit) {
            python->truncated = true;
            break;
        }
}

/* Reads the chain by a row of the table that is a constant for the compiler. */
static void read_chain(struct python_thread *python, struct python_at at,
                       const struct unwind_bounds *bounds, unsigned limit)
{
    switch (python_runtime.layout->version) {
    case 0x309:
        read_chain_by(python, &python_layouts[0], at, bounds, limit);
        break;
    case 0x30a:
        read_chain_by(python, &python_layouts[1], at, bounds, limit);
        break;
    case 0x30b:
        read_chain_by(python, &python_layouts[2], at, bounds, limit);
        break;
    case 0x30c:
        read_chain_by(python, &python_layouts[3], at, bounds, limit);
        break;
    case 0x30d:
        read_chain_by(python, &python_layouts[4], at, bounds, limit);
        break;
    }
}

/* The innermost frame of a thread's state. */
static struct python_at innermost_frame(uintptr_t state, const struct unwind_bounds *bounds,
                                        uintptr_t sp)
{
    const struct python_layout *layout = python_runtime.layout;
    struct python_at at = {0};
    if (layout->state.cframe)
        at.cframe = python_word(state, layout->state.cframe);
    if (layout->state.frame)
        at.frame = python_word(state, layout->state.frame);
    else if (at.cframe)
        at.frame = python_word(at.cframe, layout->cframe.frame);
    if (at.cframe < sp || at.cframe >= bounds->high)
        at.cframe = 0; /* a thread has one outside of its stack, to begin with */
    return at;
}

/* The state that the calling thread runs Python with. In a thread that released the interpreter it
 * is the one that it will take it with again. */
static uintptr_t find_state(void)
{
    void *own = python_runtime.own_state();
    void *current = own && python_runtime.current_state ? python_runtime.current_state() : NULL;
    return (uintptr_t)(current ? current : own);
}

bool python_read_frames(struct python_thread *python, const struct unwind_bounds *bounds,
                        uintptr_t sp, unsigned limit)
{
    uint32_t state = load_acquire(&python_runtime.state);
    if ((state != PYTHON_FOUND && state != PYTHON_VERIFIED) || !bounds->high)
        return false;
    uintptr_t thread = find_state();
    if (!thread || (unlikely(state == PYTHON_FOUND) && !python_verify(thread)))
        return false;
    struct python_at at = innermost_frame(thread, bounds, sp);
    if (!at.frame || at.frame % WORD)
        return false;
    python->key = 1;
    python->frame_count = python->run_count = 0;
    python->truncated = false;
    limit = limit < UNWIND_DEPTH_MAX - 1 ? limit : UNWIND_DEPTH_MAX - 1;
    read_chain(python, at, bounds, limit);
    if (!python->run_count || python->run[python->run_count - 1].end < python->frame_count)
        end_run(python, 0);
    return python->frame_count > 0;
}

/* ---- Stacks that were met before ------------------------------------------------------------- */

static uint64_t stack_key(const struct python_thread *python, uint32_t node, unsigned sort)
{
    uint64_t key = mix(python->key, (uint64_t)node << 32 | sort);
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
    python->known[key % NUMBERS].key = 0; /* a signal handler must not find half an entry */
    __asm__ volatile("" ::: "memory");
    python->known[key % NUMBERS].number = number;
    __asm__ volatile("" ::: "memory");
    python->known[key % NUMBERS].key = key;
}

/* ---- Between the C frames -------------------------------------------------------------------- */

/* Is the C frame that executes a run told by its function? next: the sp of its caller. */
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

/* Fills the merged trace from its inner end. False: it is full. */
static bool add_step(struct unwind_trace *merged, const struct unwind_step *step)
{
    if (!merged->cut)
        return false;
    merged->step[--merged->cut] = *step;
    merged->depth++;
    return true;
}

static bool add_run(struct python_thread *python, unsigned run)
{
    unsigned first = run ? python->run[run - 1].end : 0;
    for (unsigned i = first; i < python->run[run].end; i++) {
        const struct python_frame *frame = &python->frame[i];
        uint64_t print = code_print(python_runtime.layout, frame->code);
        struct unwind_step step = {.pc = LEAK_CODE_PC + frame->at,
                                   .retired = LEAK_NODE_CODE | python_code_id(frame->code, print)};
        if (!add_step(&python->merged, &step))
            return false;
    }
    return true;
}

/* The C frames with the runs that they execute, from the inside. Runs whose C frame is not in the
 * trace follow at its end. False: the stack had to be truncated. */
static bool merge_frames(struct python_thread *python, const struct unwind_trace *trace)
{
    unsigned run = 0;
    for (unsigned i = 0; i < trace->depth; i++) {
        const struct unwind_step *step = unwind_step_at(trace, i);
        uintptr_t next = i + 1 < trace->depth ? unwind_step_at(trace, i + 1)->sp : 0;
        while (run < python->run_count && executes(&python->run[run], step, next)) {
            bool by_name = is_told_by_name(&python->run[run], next);
            if (!add_run(python, run++))
                return false;
            if (run == python->run_count && python->truncated)
                return false;
            if (by_name)
                break; /* it executes one */
        }
        if (!add_step(&python->merged, step))
            return false;
    }
    while (run < python->run_count)
        if (!add_run(python, run++))
            return false;
    return !python->truncated;
}

struct unwind_trace *python_merge(struct python_thread *python, const struct unwind_trace *trace)
{
    struct unwind_trace *merged = &python->merged;
    merged->cut = UNWIND_DEPTH_MAX;
    merged->depth = merged->shared = 0;
    merged->paths = merged->shareable = false;
    merged->end = merge_frames(python, trace) ? trace->end : LEAK_ROOT_DEPTH;
    return merged;
}
