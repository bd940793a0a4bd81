/* memcheck.h - the model in the terms of Valgrind's Memcheck, for the formats xml and valgrind.
 *
 * An error is a few sentences, some with a stack below them. Memcheck has four kinds of leaks:
 * hidden and unfreed blocks are possibly lost there, those of the runtime are still reachable, and
 * a remark says so. Stacks end at main, as with Memcheck.
 */
#ifndef SYMBOLIZE_FORMATS_MEMCHECK_H
#define SYMBOLIZE_FORMATS_MEMCHECK_H

#include "common/view/format_api.h"

#define MEMCHECK_WORDS 512
#define MEMCHECK_PARTS 8

struct memcheck_part {
    char words[MEMCHECK_WORDS];
    const char *name;   /* foreign text of any length after the words; NULL = none */
    struct stack stack; /* no frames = none */
    const char *
        callee; /* the function that the innermost frame called; NULL = unknown, or it is a frame */
};

struct memcheck_error {
    const char *kind; /* "Leak_DefinitelyLost" */
    struct thread_ref thread;
    uint64_t count;
    bool leak;
    uint64_t bytes, blocks;                     /* of a leak, with the blocks it owns */
    struct memcheck_part parts[MEMCHECK_PARTS]; /* the error and its stack; then remarks */
    size_t part_count;
};

void memcheck_bad_free(const struct bad_free *mistake, struct memcheck_error *error);

/* Fills in the error for a record. i: index of the record. */
void memcheck_leak(const struct process *process, size_t i, struct memcheck_error *error);

/* The four sums of Memcheck, without suppressed records. */
struct memcheck_sums {
    struct verdict_total definite, indirect, possible, reachable;
};
struct memcheck_sums memcheck_sums(const struct process *process);

/* Length of a stack without the runtime frames outside of main. */
size_t memcheck_depth(const struct stack *stack, const struct view *view);

#endif
