/* python_layout.h - the offsets of the fields of Python's objects, by version. Private to this
 * folder. */
#ifndef PRELOAD_PYTHON_PYTHON_LAYOUT_H
#define PRELOAD_PYTHON_PYTHON_LAYOUT_H

#include "preload/base/base.h"
#include "leak_store.h"

/* How Python frames are linked, and which word on the C stack identifies the C frame of the
 * interpreter that executes them. */
enum python_chain {
    /* 3.9: each C frame executes one Python frame, and no word on its stack identifies it. */
    PYTHON_FRAME_OBJECTS,
    /* 3.10: each C frame executes one Python frame and has a struct CFrame. */
    PYTHON_FRAME_OBJECTS_CFRAMES,
    /* 3.11: each C frame executes a run of Python frames, and has a struct _PyCFrame that points to
     * the innermost one; the outermost one is marked. */
    PYTHON_CFRAMES,
    /* Since 3.12: each C frame executes a run of Python frames, and has a frame without code
     * further out than the outermost of these: the shim. */
    PYTHON_SHIMS,
};

/* Offsets, in bytes, of the fields that libleak reads. */
struct python_layout {
    uint32_t version; /* version of Python: 0x30b is 3.11 */
    enum python_chain chain;
    enum leak_line_table line_table;
    struct {
        /* Offset of the pointer to the innermost frame; 0: a CFrame has that pointer. */
        uint16_t frame;
        /* cframe: offset of the pointer to the innermost CFrame; 0: there is none. id: offset of
         * thread_id. */
        uint16_t cframe, id;
    } state;
    struct {
        uint16_t frame, previous;
    } cframe;
    struct {
        uint16_t code, previous, instruction;
        uint16_t owner; /* offset of the field owner (PYTHON_SHIMS) or is_entry (PYTHON_CFRAMES) */
    } frame;
    struct {
        uint16_t file, name, lines, first_line;
        /* Offset of the instructions; not used for PYTHON_FRAME_OBJECTS and
         * PYTHON_FRAME_OBJECTS_CFRAMES. */
        uint16_t instructions;
    } code;
    struct {
        /* Sizes of the structs before the characters of ASCII strings and of other strings. */
        uint16_t ascii, other;
    } string;
};

/* The layouts, as offsetof says with the headers of each version on a 64-bit system. They are in a
 * header so that the compiler knows the constants. */
static const struct python_layout python_layouts[] UNUSED = {
    {.version = 0x309,
     .chain = PYTHON_FRAME_OBJECTS,
     .line_table = LEAK_LINE_TABLE_3_9,
     .state = {.frame = 24, .id = 176},
     .frame = {.code = 32, .previous = 24, .instruction = 104},
     .code = {.file = 104, .name = 112, .lines = 120, .first_line = 40},
     .string = {48, 72}},
    {.version = 0x30a,
     .chain = PYTHON_FRAME_OBJECTS_CFRAMES,
     .line_table = LEAK_LINE_TABLE_3_10,
     .state = {.frame = 24, .cframe = 48, .id = 176},
     .cframe = {.previous = 8},
     .frame = {.code = 32, .previous = 24, .instruction = 96},
     .code = {.file = 104, .name = 112, .lines = 120, .first_line = 40},
     .string = {48, 72}},
    {.version = 0x30b,
     .chain = PYTHON_CFRAMES,
     .line_table = LEAK_LINE_TABLE_3_11,
     .state = {.cframe = 56, .id = 152},
     .cframe = {.frame = 8, .previous = 16},
     .frame = {.code = 32, .previous = 48, .instruction = 56, .owner = 68},
     .code = {.file = 112, .name = 128, .lines = 136, .first_line = 72, .instructions = 184},
     .string = {48, 72}},
    {.version = 0x30c,
     .chain = PYTHON_SHIMS,
     .line_table = LEAK_LINE_TABLE_3_11,
     .state = {.cframe = 56, .id = 136},
     .cframe = {.frame = 0, .previous = 8},
     .frame = {.code = 0, .previous = 8, .instruction = 56, .owner = 70},
     .code = {.file = 112, .name = 128, .lines = 136, .first_line = 68, .instructions = 192},
     .string = {40, 56}},
    {.version = 0x30d,
     .chain = PYTHON_SHIMS,
     .line_table = LEAK_LINE_TABLE_3_11,
     .state = {.frame = 72, .id = 152},
     .frame = {.code = 0, .previous = 8, .instruction = 56, .owner = 70},
     .code = {.file = 112, .name = 128, .lines = 136, .first_line = 68, .instructions = 200},
     .string = {40, 56}},
};

/* Offsets and values that are the same in all versions. */
enum {
    PYTHON_TYPE = 8, /* offset of the type in any object */
    /* Number of bytes at the start of a code object in which all fields lie that are read. */
    PYTHON_CODE_FIELDS = 144,
    PYTHON_TYPE_FREE = 48, /* offset of tp_dealloc in a type */
    PYTHON_LENGTH = 16,    /* offset of the length in a string or bytes object */
    /* Offset of a string's state: size of its characters, and whether they follow the struct. */
    PYTHON_STRING_STATE = 32,
    PYTHON_BYTES_CONTENT = 32, /* offset of the content in a bytes object */
    PYTHON_OWNER_C_STACK = 3,  /* the value of owner in a shim */
};

struct python_runtime {
    uint32_t state; /* enum python_state: how far libleak can read this Python */
    const struct python_layout *layout;
    /* Python's function that returns the thread state (PyThreadState) of the calling thread. The
     * function returns NULL in a thread that Python did not create or adopt. */
    void *(*own_state)(void);
    /* Python's function that returns the thread state of the thread that runs the interpreter. The
     * pointer is NULL if Python does not export the function. */
    void *(*current_state)(void);
    /* This version's current_state returns NULL if another thread runs the interpreter. */
    bool current_is_own;
    uintptr_t code_type, string_type, bytes_type;
    /* Address range of _PyEval_EvalFrameDefault, which executes Python code. */
    uintptr_t evaluate, evaluate_end;
};
enum python_state {
    PYTHON_NONE,
    PYTHON_FOUND,    /* Python was found; its layout is not verified yet */
    PYTHON_VERIFIED, /* the layout is verified, so frames may be read */
    PYTHON_REFUSED,
};
extern struct python_runtime python_runtime HIDDEN;

/* A Python thread state whose thread executed no Python code when it was examined. An interpreter
 * allocates thousands of blocks before its first frame, and examining the state takes system
 * calls. */
struct python_idle {
    uintptr_t state;  /* 0: none was examined */
    uintptr_t cframe; /* its CFrame, which is a part of it; 0: this version has none */
};

/* Verifies the layout by the frames of the calling thread, if it executes Python code. True: frames
 * may be read. If it executes none, *idle gets its state. */
bool python_verify(uintptr_t state, struct python_idle *idle);
/* Says whether a state still has no frame. It must be the current state of the calling thread; so it
 * exists, and is read directly. */
bool python_is_idle(const struct python_idle *idle, uintptr_t state);
/* Says whether a Python thread state belongs to the calling thread. The state may have been freed
 * meanwhile. */
bool python_is_own_state(uintptr_t state);
/* Finds the layout of a version. NULL: it is not known. */
const struct python_layout *python_find_layout(uint32_t version);

/* ---- Code objects ----------------------------------------------------------------------------
 *
 * The id of a code object is stored in a hash by the object's address, until the object is freed.
 * To notice that, libleak replaces tp_dealloc in the type of code objects by a function of
 * python_codes.c; the type is writable. An entry is one word, so it is read without a lock: the
 * address without its four low bits, which are 0, then the id. */
#define PYTHON_CODES 16384 /* number of entries of the hash; a power of two */
#define PYTHON_CODE_BITS 48
#define PYTHON_CODE_IDS (1u << 20)

extern struct python_codes {
    uint32_t generation; /* counts code objects that were freed */
    uint64_t known[PYTHON_CODES];
} python_codes HIDDEN;

static inline uint64_t *python_code_place(uintptr_t code)
{
    return &python_codes.known[code / 16 * 0x9e3779b97f4a7c15ull >> 32 & (PYTHON_CODES - 1)];
}

static inline uint64_t python_code_entry(uintptr_t code)
{
    return (uint64_t)code / 16 * PYTHON_CODE_IDS;
}

/* Reads a code object, records its function if it is new, and returns its id; 0: it cannot be
 * recorded. */
uint32_t python_code_learn(uintptr_t code);

static inline uint32_t python_code_id(uintptr_t code)
{
    uint64_t id = load_relaxed(python_code_place(code)) ^ python_code_entry(code);
    return likely(id && id < PYTHON_CODE_IDS) ? (uint32_t)id : python_code_learn(code);
}

/* Replaces tp_dealloc, so that ids of freed code objects are forgotten. Called once, before the
 * first id is requested. */
void python_codes_watch(uintptr_t code_type);
/* Forgets all ids, after their Python was unloaded. */
void python_codes_forget_all(void);

/* Reads a word of an object that exists. */
static inline uintptr_t python_word(uintptr_t object, unsigned offset)
{
    return *(const uintptr_t *)(object + offset);
}

#endif
