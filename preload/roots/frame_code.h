/* frame_code.h - finds the words of a function's frame in which the function never keeps a value.
 *
 * The code of the function tells. Two kinds of words are found:
 *
 * - In the register save area of a variadic function those words into which no pointer is saved: of
 *   the vector registers, which hold floating-point arguments, and of the named arguments, which
 *   are not saved there.
 * - Words that no instruction of the function names: padding. Only a function that computes no
 *   address of its frame is known to keep nothing there, because an object may extend from the
 *   address in both directions; except for the save area and the va_list.
 *
 * Each CPU has its own implementation. That of x86_64 reads the whole function, and finds nothing
 * if it meets an instruction that it does not know, or a breakpoint; those of other CPUs find
 * nothing. */
#ifndef PRELOAD_ROOTS_FRAME_CODE_H
#define PRELOAD_ROOTS_FRAME_CODE_H

#include "preload/base/base.h"

#define FRAME_HOLES_MOST 16
/* Functions with more bytes of code than this are not read. */
#define FRAME_CODE_MOST 16384

struct frame_function {
    const uint8_t *code; /* from its first instruction on */
    size_t size;
    uintptr_t frame_size; /* number of bytes from sp, at a call that it makes, to its CFA */
    /* Other code may run with this frame: an exception handler outside of the function's code. */
    bool has_handlers;
    /* The function that it called may keep values in the frame: its arguments on the stack belong to
     * it, which may write them although the caller has not. */
    bool passes_arguments;
};

/* Offsets in bytes from the function's CFA; they are negative. */
struct frame_holes {
    struct {
        int32_t start, end;
    } hole[FRAME_HOLES_MOST];
    unsigned count;
    /* The whole function was read, and keeps nothing in the frame of its caller. */
    bool leaves_caller_alone;
};

void frame_code_find_holes(const struct frame_function *function, struct frame_holes *out);

#endif
