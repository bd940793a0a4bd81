/* python_runtime.c - finds Python in the process, and verifies that its objects have the layout
 * that is known for its version. */
#include "preload/python/python_layout.h"
#include "preload/python/python.h"
#include "preload/base/sys.h"
#include "preload/elf/symbols.h"
#include "preload/store/store.h"

#include <pthread.h>

struct python_runtime python_runtime;

/* ---- Finding Python -------------------------------------------------------------------------- */

/* Determines the version: from Py_Version, which Python exports since 3.11, else from functions
 * that 3.10 and 3.9 were the first to export. */
static uint32_t read_version(const struct symbols *symbols)
{
    uintptr_t version = symbols_find_export(symbols, "Py_Version");
    if (version)
        return *(const unsigned long *)version >> 16;
    if (symbols_find_export(symbols, "PyIter_Send"))
        return 0x30a;
    return symbols_find_export(symbols, "PyFrame_GetBack") ? 0x309 : 0;
}

const struct python_layout *python_find_layout(uint32_t version)
{
    for (size_t i = 0; i < ARRAY_LENGTH(python_layouts); i++)
        if (python_layouts[i].version == version && WORD == 8)
            return &python_layouts[i];
    return NULL;
}

static bool fill_runtime(const struct symbols *symbols, struct python_runtime *out)
{
    out->layout = python_find_layout(read_version(symbols));
    out->own_state = (void *(*)(void))symbols_find_export(symbols, "PyGILState_GetThisThreadState");
    out->code_type = symbols_find_export(symbols, "PyCode_Type");
    out->string_type = symbols_find_export(symbols, "PyUnicode_Type");
    out->bytes_type = symbols_find_export(symbols, "PyBytes_Type");
    uintptr_t current = symbols_find_export(symbols, "PyThreadState_GetUnchecked");
    if (!current)
        current = symbols_find_export(symbols, "_PyThreadState_UncheckedGet");
    out->current_state = (void *(*)(void))current;
    /* Since Python 3.12 the current Python thread state is a thread-local variable. */
    out->current_is_own = out->layout && out->layout->version >= 0x30c;
    return out->layout && out->own_state && out->code_type && out->string_type && out->bytes_type;
}

bool python_find_runtime(const struct link_map *object)
{
    struct symbols symbols;
    struct python_runtime found = {.state = PYTHON_FOUND};
    if (load_relaxed(&python_runtime.state) != PYTHON_NONE ||
        !symbols_read_at(object->l_addr, object->l_ld, &symbols) ||
        !symbols_find_function(&symbols, "_PyEval_EvalFrameDefault", &found.evaluate,
                               &found.evaluate_end))
        return false;
    if (!fill_runtime(&symbols, &found)) {
        store_set_flag(LEAK_FLAG_PYTHON_UNREAD);
        found.state = PYTHON_REFUSED;
    }
    uint32_t state = found.state;
    found.state = PYTHON_NONE;
    python_runtime = found;
    /* Pairs with load_acquire in python_read_frames: a thread that sees the state also sees the
     * other members. */
    store_release(&python_runtime.state, state);
    return state == PYTHON_FOUND;
}

bool python_forget_runtime(uintptr_t start, uintptr_t end)
{
    uint32_t state = load_relaxed(&python_runtime.state);
    if (state == PYTHON_NONE || python_runtime.evaluate - start >= end - start)
        return false;
    store_relaxed(&python_runtime.state, PYTHON_NONE);
    python_codes_forget_all();
    return state != PYTHON_REFUSED;
}

/* ---- Verifying the layout -------------------------------------------------------------------- */

/* The largest number of frames that are verified; those further out are not. */
#define VERIFY_FRAMES 256
/* Attempts until Python is refused: in a signal handler the innermost frame may be incomplete. */
#define VERIFY_ATTEMPTS 3
#define LINE_MOST 10000000 /* no source file has more lines */
/* A Python thread state has fewer bytes than this. */
#define STATE_SIZE 1024

static bool peek_word(uintptr_t object, unsigned offset, uintptr_t *out)
{
    return object % WORD == 0 && object >= LEAK_PAGE && sys_peek(object + offset, out, sizeof *out);
}

static bool has_type(uintptr_t object, uintptr_t type)
{
    uintptr_t found;
    return peek_word(object, PYTHON_TYPE, &found) && found == type;
}

static bool points_to(uintptr_t object, unsigned offset, uintptr_t type)
{
    uintptr_t target;
    return peek_word(object, offset, &target) && has_type(target, type);
}

static bool is_code(uintptr_t code)
{
    const struct python_layout *layout = python_runtime.layout;
    int32_t line;
    return has_type(code, python_runtime.code_type) &&
           points_to(code, layout->code.file, python_runtime.string_type) &&
           points_to(code, layout->code.name, python_runtime.string_type) &&
           points_to(code, layout->code.lines, python_runtime.bytes_type) &&
           sys_peek(code + layout->code.first_line, &line, sizeof line) && line >= 0 &&
           line < LINE_MOST;
}

/* Says whether the offset of the instruction that a frame executes lies in its code; before the
 * first instruction the offset is negative. */
static bool has_place(uintptr_t frame, uintptr_t code)
{
    const struct python_layout *layout = python_runtime.layout;
    uintptr_t at;
    int32_t last;
    if (layout->code.instructions)
        return peek_word(frame, layout->frame.instruction, &at) &&
               (at - code - layout->code.instructions + 16) < (1u << 28);
    return sys_peek(frame + layout->frame.instruction, &last, sizeof last) && last >= -1 &&
           last < 1 << 28;
}

static bool is_shim(uintptr_t frame)
{
    uint8_t owner;
    return python_runtime.layout->chain == PYTHON_SHIMS &&
           sys_peek(frame + python_runtime.layout->frame.owner, &owner, 1) &&
           owner == PYTHON_OWNER_C_STACK;
}

/* Says whether the chain of frames is as the layout says: at least one frame has code, and of the
 * innermost VERIFY_FRAMES frames all have code except shims (PYTHON_SHIMS). */
static bool verify_chain(uintptr_t frame)
{
    unsigned codes = 0;
    for (unsigned i = 0; frame && i < VERIFY_FRAMES; i++) {
        uintptr_t code;
        if (!is_shim(frame)) {
            if (!peek_word(frame, python_runtime.layout->frame.code, &code) || !is_code(code) ||
                !has_place(frame, code))
                return false;
            codes++;
        }
        if (!peek_word(frame, python_runtime.layout->frame.previous, &frame))
            return false;
    }
    return codes > 0;
}

/* Reads the address of the innermost frame through the kernel. False: it cannot be read. */
static bool peek_innermost_frame(uintptr_t state, uintptr_t *cframe, uintptr_t *frame)
{
    const struct python_layout *layout = python_runtime.layout;
    *cframe = 0;
    if (layout->state.frame)
        return peek_word(state, layout->state.frame, frame);
    return peek_word(state, layout->state.cframe, cframe) &&
           peek_word(*cframe, layout->cframe.frame, frame);
}

bool python_is_own_state(uintptr_t state)
{
    uintptr_t id;
    return peek_word(state, python_runtime.layout->state.id, &id) &&
           id == (uintptr_t)pthread_self();
}

bool python_is_idle(const struct python_idle *idle, uintptr_t state)
{
    const struct python_layout *layout = python_runtime.layout;
    if (state != idle->state)
        return false;
    if (layout->state.frame)
        return !python_word(state, layout->state.frame);
    return python_word(state, layout->state.cframe) == idle->cframe &&
           !python_word(idle->cframe, layout->cframe.frame);
}

COLD bool python_verify(uintptr_t state, struct python_idle *idle)
{
    static uint32_t attempts;
    uintptr_t cframe, frame;
    if (load_relaxed(&python_runtime.state) != PYTHON_FOUND)
        return load_relaxed(&python_runtime.state) == PYTHON_VERIFIED;
    if (python_is_own_state(state) && peek_innermost_frame(state, &cframe, &frame)) {
        if (!frame) {
            if (!cframe || cframe - state < STATE_SIZE)
                *idle = (struct python_idle){state, cframe};
            return false;
        }
        if (verify_chain(frame)) {
            python_codes_watch(python_runtime.code_type);
            store_relaxed(&python_runtime.state, PYTHON_VERIFIED);
            return true;
        }
    }
    if (add_relaxed(&attempts, 1) + 1 >= VERIFY_ATTEMPTS) {
        store_relaxed(&python_runtime.state, PYTHON_REFUSED);
        store_set_flag(LEAK_FLAG_PYTHON_UNREAD);
    }
    return false;
}
