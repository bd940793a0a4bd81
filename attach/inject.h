/* inject.h - calls functions of a process in one of its threads, on a stack of leakctl's own.
 *
 * The stack begins with a frame as the kernel makes it for a signal handler, with the whole state
 * of the thread. If leakctl dies while a function is called, the thread goes on from that frame as
 * after a signal handler. For the two system calls that map and unmap that stack, a second frame
 * lies below the thread's own stack pointer, unless the thread is on a stack that the program has
 * made. If leakctl lives, inject_end restores the thread exactly: registers, vectors, signal mask,
 * and the interrupted system call.
 *
 * On a busy machine the thread may wait for a processor each time that it goes on after a stop.
 * Therefore several calls are made as one list. */
#ifndef ATTACH_INJECT_H
#define ATTACH_INJECT_H

#include <stdbool.h>
#include <stdint.h>

#include "attach/loaded_objects.h"
#include "attach/tracee.h"

enum inject_result {
    INJECT_DONE,
    INJECT_TIMEOUT, /* a function still runs, or the thread is stopped inside of it */
    INJECT_FAULT,   /* the function raised a signal, stored in injection.fault */
    INJECT_GONE     /* the process has ended */
};

/* Helper functions in the memory that leakctl maps in the process, for inject_step.function. The
 * value is the offset of a function's code in that memory. */
enum inject_helper {
    /* makes a system call; the step's arguments: its number and two arguments of the call */
    INJECT_SYSCALL = 128,
    INJECT_READ_INT = 144, /* returns the int that the previous step's result points to */
    INJECT_PASS = 160,     /* calls the function in the step's first argument with two arguments:
                            * the previous step's result and the step's second argument */
    INJECT_CALL = 176,     /* calls the function whose address is the previous step's result,
                            * unless that is 0 */
    INJECT_TRY = 192       /* lets a child process make the system calls of a list, which ends
                            * with 0, with invalid arguments; if a seccomp filter kills the
                            * child, no later step is run */
};

#define INJECT_STEPS 16
struct inject_step {
    uint64_t function, argument[3], result;
};

/* Bytes for a signal frame with all vector registers. */
#define INJECT_RESCUE_SIZE (TRACEE_VECTOR_SIZE + 4096)

struct injection {
    struct tracee *tracee;
    const struct objects *objects;
    uint64_t syscall;   /* address in libc of the instruction syscall, with ret behind it
                         * if sigreturn is not 0 */
    uint64_t sigreturn; /* address of the code in libc to which a signal handler returns; 0: none */
    uint64_t rescue;    /* address of a frame on the thread's own stack; 0: none */
    size_t saved_size;  /* number of bytes of that stack, below its red zone, that are saved while
                         * the frame overwrites them */
    unsigned char saved[INJECT_RESCUE_SIZE];
    uint64_t area;  /* address in the process of the memory that leakctl mapped there; 0: none */
    uint64_t frame; /* stack pointer at the first instruction of a called function */
    bool returned;  /* the thread has returned to the program by itself: leakctl was too slow */
    uint64_t mask;
    bool running; /* after INJECT_TIMEOUT: the called function still runs; false: the thread is
                   * stopped in it */
    size_t at;    /* how many steps of the list have returned */
    size_t vectors_size;
    int fault;
    unsigned char vectors[TRACEE_VECTOR_SIZE];
    /* when a step opens this path, it gets a copy of the descriptor opened_fd instead; NULL:
     * none */
    const char *opened_path;
    int opened_fd;
    /* the thread is in the openat that is replaced; at_openat: its registers before that call */
    bool substituted;
    struct user_regs_struct at_openat;
};

#define INJECT_TEXT_SIZE 8192

/* Finds a syscall instruction in libc, without a stop of the process. False: libc has none. */
bool inject_prepare(struct injection *injection, const struct objects *objects,
                    struct tracee *tracee);

/* Says whether an address lies in the code that leakctl, maybe one that has died meanwhile, has put
 * into a process. */
bool inject_is_own_code(const struct tracee *tracee, uint64_t address);

/* Saves the state of a thread that is stopped at a safe place, and maps memory for code, stack and
 * texts in its process. False: the system call failed; the thread is unchanged, and inject_end must
 * be called. */
bool inject_begin(struct injection *injection);

/* Copies bytes, or a text, into the memory that leakctl has mapped in the process. at: offset from
 * the start of the part for texts, from 0 to INJECT_TEXT_SIZE, a multiple of 8. Returns the address
 * in the process; 0: failed. */
uint64_t inject_bytes(struct injection *injection, size_t at, const void *bytes, size_t size);
uint64_t inject_text(struct injection *injection, size_t at, const char *text);

/* Time limits of a list of calls, in milliseconds. When loose_time is over while one of the first
 * `loose` steps runs, the thread is stopped, so that its state can be restored; other steps may run
 * until `time` is over. */
struct inject_limits {
    size_t loose;
    uint64_t loose_time, time;
};

/* Makes the calls one after the other, and stores the results of those that have returned.
 * INJECT_DONE: all have returned. */
enum inject_result inject_steps(struct injection *injection, struct inject_step *steps,
                                size_t count, struct inject_limits limits);

/* A step that stores the thread's alternate signal stack in the signal frame; it must be in the
 * first list of steps. */
struct inject_step inject_altstack(const struct injection *injection);

/* Restores the thread's state, even from a function that has not returned, and leaves the thread
 * stopped; the caller releases it. */
void inject_end(struct injection *injection);

#endif
