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

/* The same in all versions. */
enum {
    PYTHON_TYPE = 8,           /* of any object */
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
/* The row of a version; NULL: there is none. */
const struct python_layout *python_find_layout(uint32_t version);

/* Reads a word of an object that is alive. */
static inline uintptr_t python_word(uintptr_t object, unsigned offset)
{
    return *(const uintptr_t *)(object + offset);
}

#endif
