/* inject.h - calls functions of a process in one of its threads, on a stack of leakctl's own.
 *
 * Below the call lies a frame as the kernel makes one for a signal handler, with all that the thread
 * was: when leakctl dies in the middle, the function's return leads through it back to where the
 * thread was, as if a handler had returned. (Not in the three system calls that make and remove the
 * stack, some microseconds each.) A thread that leakctl still holds is put back by
 * inject_end, exactly: registers, vectors, mask, and the interrupted system call. */
#ifndef ATTACH_INJECT_H
#define ATTACH_INJECT_H

#include <stdbool.h>
#include <stdint.h>

#include "attach/loaded_objects.h"
#include "attach/tracee.h"

enum inject_result {
    INJECT_DONE,
    INJECT_TIMEOUT, /* the function still runs */
    INJECT_FAULT,   /* it raised a signal, see fault */
    INJECT_GONE     /* the process has ended */
};

/* Functions in the area, for a step's function. */
enum inject_helper {
    INJECT_SYSCALL = 128,  /* a system call: its number, two arguments */
    INJECT_READ_INT = 144, /* the int that the result before points to */
    INJECT_PASS = 160, /* calls a function with the result before, and the step's second argument */
    INJECT_CALL = 176, /* calls the result before, unless it is 0 */
    INJECT_TRY = 192 /* a child makes the calls of a list, 0 at its end, with bad arguments; when a
                        * filter ends it, this is the last step */
};

#define INJECT_STEPS 16
struct inject_step {
    uint64_t function, argument[3], result;
};

struct injection {
    struct tracee *tracee;
    uint64_t syscall; /* an instruction in libc */
    uint64_t area;    /* in the process; 0: none */
    uint64_t frame;   /* the stack pointer at the function's first instruction */
    bool returned;    /* the thread has gone back by itself */
    uint64_t mask;
    bool running; /* after INJECT_TIMEOUT */
    size_t vectors_size;
    int fault;
    unsigned char vectors[TRACEE_VECTOR_SIZE];
    const char
        *opened_path; /* an openat of this path by the steps duplicates opened_fd; NULL: none */
    int opened_fd;
    bool substituted; /* such a call is on its way: */
    struct user_regs_struct at_openat;
};

#define INJECT_TEXT_SIZE 8192

/* Finds the instructions. Nothing is stopped. False: libc has them not. */
bool inject_prepare(struct injection *injection, const struct objects *objects,
                    struct tracee *tracee);

/* The thread is stopped at a safe place: saves what it is, and maps the stack. False: the system
 * call failed; the thread is as before, and inject_end is to be called. */
bool inject_begin(struct injection *injection);

/* Copies bytes or a text to the area and returns where they are; at: 0 to INJECT_TEXT_SIZE, a
 * multiple of 8. 0: failed. */
uint64_t inject_bytes(struct injection *injection, size_t at, const void *bytes, size_t size);
uint64_t inject_text(struct injection *injection, size_t at, const char *text);

/* Makes the calls one after the other, and fills the results of those that have returned. */
enum inject_result inject_steps(struct injection *injection, struct inject_step *steps,
                                size_t count, uint64_t milliseconds);

/* A step that completes the way back without leakctl: one of the first list. */
struct inject_step inject_altstack(const struct injection *injection);

/* Puts the thread back, also out of a function that has not returned, and stops it there; the
 * caller releases it. */
void inject_end(struct injection *injection);

#endif
