/* memcheck.h - what the model holds, in the terms of Valgrind's Memcheck.
 *
 * The formats xml and valgrind say the same in two forms: here is what they say. An error is a few
 * sentences, some with a stack below them. Memcheck has four kinds of leaks: hidden blocks and
 * those that nobody looked at (unfreed) are possibly lost there, the runtime's are still reachable,
 * and a remark says so. Stacks end at main, as Memcheck's do.
 */
#ifndef SYMBOLIZE_FORMATS_MEMCHECK_H
#define SYMBOLIZE_FORMATS_MEMCHECK_H

#include "common/view/format_api.h"

#define MEMCHECK_WORDS 512
#define MEMCHECK_PARTS 8

struct memcheck_part {
    char words[MEMCHECK_WORDS];
    const char *name;   /* foreign, of any length, to follow the words; NULL = none */
    struct stack stack; /* no frames = none */
    const char *callee; /* what its innermost frame called; NULL = unknown, or a frame of it */
};

struct memcheck_error {
    const char *kind; /* "Leak_DefinitelyLost" */
    struct thread_ref thread;
    uint64_t count;
    bool leak;
    uint64_t bytes, blocks;                     /* of a leak, with what would go with it */
    struct memcheck_part parts[MEMCHECK_PARTS]; /* what it is, its stack; then the remarks */
    size_t part_count;
};

void memcheck_mistake(const struct mistake *mistake, struct memcheck_error *error);

/* i: index of the record. */
void memcheck_leak(const struct process *process, size_t i, struct memcheck_error *error);

/* The four sums of Memcheck's, of what is not suppressed. */
struct memcheck_sums {
    struct verdict_total definite, indirect, possible, reachable;
};
struct memcheck_sums memcheck_sums(const struct process *process);

/* Frames of a stack, the runtime's outside of main left out. */
size_t memcheck_depth(const struct stack *stack, const struct view *view);

#endif
