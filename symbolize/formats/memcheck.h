/* memcheck.h - translates errors and records to the terms of Valgrind's Memcheck, for the formats
 * xml and valgrind.
 *
 * An error consists of a few sentences, some of them with a stack. Memcheck has four kinds of
 * leaks, so hidden and unfreed blocks become "possibly lost", and blocks that the C and C++ runtime
 * keeps become "still reachable"; a remark says so. Stacks end at main, as with Memcheck.
 */
#ifndef SYMBOLIZE_FORMATS_MEMCHECK_H
#define SYMBOLIZE_FORMATS_MEMCHECK_H

#include "common/view/format_api.h"

#define MEMCHECK_WORDS 512
#define MEMCHECK_PARTS 8

struct memcheck_part {
    char words[MEMCHECK_WORDS];
    /* text of the program, of any length, that stands after the words; NULL = none */
    const char *name;
    struct stack stack; /* no frames = this part has no stack */
    /* the allocation function that the innermost frame called; NULL = unknown, or the stack
     * contains it */
    const char *callee;
};

struct memcheck_error {
    const char *kind; /* Memcheck's word for the error, like "Leak_DefinitelyLost" */
    struct thread_ref thread;
    uint64_t count;
    bool leak;
    uint64_t bytes, blocks; /* of a leak: its bytes and blocks, with those that it owns */
    /* the first part is the error with its stack; the others are remarks */
    struct memcheck_part parts[MEMCHECK_PARTS];
    size_t part_count;
};

void memcheck_bad_free(const struct bad_free *mistake, struct memcheck_error *error);

/* Translates record i of the process to an error. */
void memcheck_leak(const struct process *process, size_t i, struct memcheck_error *error);

/* The four sums that Memcheck prints; suppressed records are not counted. */
struct memcheck_sums {
    struct verdict_total definite, indirect, possible, reachable;
};
struct memcheck_sums memcheck_sums(const struct process *process);

/* Returns the number of frames of a stack without the frames of the C library that call main. */
size_t memcheck_depth(const struct stack *stack, const struct view *view);

#endif
