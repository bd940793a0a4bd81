/* python_layout.h - where the fields of Python's objects lie, by version. Private to this folder. */
#ifndef PRELOAD_PYTHON_PYTHON_LAYOUT_H
#define PRELOAD_PYTHON_PYTHON_LAYOUT_H

#include "preload/base/base.h"
#include "leak_store.h"

/* How frames are chained, and which word on the C stack tells the frame of the interpreter that
 * executes them. */
enum python_chain {
    PYTHON_FRAME_OBJECTS,         /* 3.9: one frame for each C frame, and no such word */
    PYTHON_FRAME_OBJECTS_CFRAMES, /* 3.10: one for each C frame, with a struct CFrame */
    PYTHON_CFRAMES, /* 3.11: a run for each struct _PyCFrame, which has its innermost one;
                                     the outermost one is marked */
    PYTHON_SHIMS,   /* from 3.12 on: behind each run there is a frame without code, on
                                     the C stack */
};

/* Offsets are in bytes. */
struct python_layout {
    uint32_t version; /* 0x30b = 3.11 */
    enum python_chain chain;
    enum leak_line_table line_table;
    struct {
        uint16_t frame;      /* of the innermost frame … */
        uint16_t cframe, id; /* … or of the struct that has it; thread_id */
    } state;
    struct {
        uint16_t frame, previous;
    } cframe;
    struct {
        uint16_t code, previous, instruction;
        uint16_t owner; /* PYTHON_SHIMS: owner; PYTHON_CFRAMES: is_entry */
    } frame;
    struct {
        uint16_t file, name, lines, first_line;
        uint16_t instructions; /* PYTHON_FRAME_OBJECTS: of no use */
    } code;
    struct {
        uint16_t ascii, other; /* sizes of the heads of strings */
    } string;
};

/* From the headers of each version, as offsetof says on a 64-bit system. In a header, so that
 * chains are read by constant rows. */
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

/* The same in all versions. */
enum {
    PYTHON_TYPE = 8,           /* of any object */
    PYTHON_TYPE_FREE = 48,     /* of a type: tp_dealloc */
    PYTHON_LENGTH = 16,        /* of a string, of bytes */
    PYTHON_STRING_STATE = 32,  /* kind, and whether the characters follow the head */
    PYTHON_BYTES_CONTENT = 32, /* of bytes */
    PYTHON_OWNER_C_STACK = 3,  /* of a shim */
};

struct python_runtime {
    uint32_t state; /* enum python_state */
    const struct python_layout *layout;
    void *(*own_state)(void);     /* of the calling thread; NULL: it is no thread of Python */
    void *(*current_state)(void); /* the one that has the interpreter; may be missing */
    bool current_is_own;          /* it is one of the calling thread, or NULL */
    uintptr_t code_type, string_type, bytes_type;
    uintptr_t evaluate, evaluate_end; /* _PyEval_EvalFrameDefault */
};
enum python_state {
    PYTHON_NONE,
    PYTHON_FOUND,    /* nothing was verified yet */
    PYTHON_VERIFIED, /* its frames may be read */
    PYTHON_REFUSED,
};
extern struct python_runtime python_runtime HIDDEN;

/* Verifies the layout with the state of the calling thread, if that executes Python code. True: its
 * frames may be read. */
bool python_verify(uintptr_t state);
/* Says whether a state, which may be freed at the same moment, belongs to the calling thread. */
bool python_is_own_state(uintptr_t state);
/* The row of a version; NULL: there is none. */
const struct python_layout *python_find_layout(uint32_t version);

/* ---- Code objects ----------------------------------------------------------------------------
 *
 * The id of a code object is kept under its address until the object is freed. That is seen by
 * tp_dealloc in the type of code objects, which gets a function of python_codes.c; the interpreter
 * writes into its static types itself. An entry is one word, so it is read without a lock: address
 * without the four bits that are 0, id. */
#define PYTHON_CODES 16384 /* a power of two */
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

/* Reads the object, and records it if it is new; 0: it cannot be recorded. */
uint32_t python_code_learn(uintptr_t code);

static inline uint32_t python_code_id(uintptr_t code)
{
    uint64_t id = load_relaxed(python_code_place(code)) ^ python_code_entry(code);
    return likely(id && id < PYTHON_CODE_IDS) ? (uint32_t)id : python_code_learn(code);
}

/* Call once, before the first id is asked for: from now on objects that are freed are forgotten. */
void python_codes_watch(uintptr_t code_type);
/* The Python of all known objects was unloaded. */
void python_codes_forget_all(void);

/* Reads a word of an object that is alive. */
static inline uintptr_t python_word(uintptr_t object, unsigned offset)
{
    return *(const uintptr_t *)(object + offset);
}

#endif
