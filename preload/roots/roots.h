/* roots.h - finds the memory outside the heap in which a program keeps pointers.
 *
 * The roots of a leak check are: writable data of ELF objects, thread-local storage, registers and
 * the live part of each thread's stack, regions that the program registered, and anonymous mappings
 * that are no stack and belong neither to an allocator nor to libleak. Each root is a range of
 * words with a class; the option roots= excludes classes. Untouched pages are not read
 * (/proc/self/pagemap). */
#ifndef PRELOAD_ROOTS_ROOTS_H
#define PRELOAD_ROOTS_ROOTS_H

#include "preload/roots/heap_ranges.h"
#include "preload/roots/elf_images.h"
#include "preload/signals/stop_the_world.h"
#include "preload/roots/scan_ranges.h"

/* Reads the size of static thread-local storage; called at the start of the process. */
void roots_start(void);
/* Parses a list such as "globals,stacks" to a set of 1 << enum leak_root_class. False: it has an
 * unknown word. */
bool roots_parse_classes(const char *list, size_t length, unsigned *out);

/* Add and remove a region that the program registers as roots. False: there is no memory. */
bool roots_add_region(uintptr_t start, size_t size);
void roots_remove_region(uintptr_t start, size_t size);

/* A thread of the process that is checked. */
struct root_thread {
    int tid;
    uint32_t serial; /* number of the thread; 0: it has never entered a hook */
    bool stopped, caller;
    uintptr_t pc, sp, fp; /* values of these registers; 0: not known */
    uintptr_t block;
    uintptr_t low, high; /* ends of the thread's own stack; 0: not known */
    const ucontext_t *context;
    const struct thread *state;
};

struct roots {
    struct scan_ranges ranges;
    struct root_thread *threads;
    uint32_t thread_count;
    bool glibc; /* the allocator is the C library's */
};

/* The thread that requests the leak check. Its live stack begins at sp; the values that its
 * registers had are stored between sp and frame. */
struct roots_caller {
    int tid;
    uintptr_t sp, frame, pc, fp;
    /* The context that a signal handler has interrupted; NULL: not in a handler. */
    const ucontext_t *context;
};

struct roots_input {
    const struct procmaps *maps;
    const struct elf_images *images;
    const struct world *world;
    const struct roots_caller *caller;
    const struct reach *reach;
    unsigned classes;
    bool stopped; /* false: other threads were running, so their whole stacks are read */
};

bool roots_find(const struct roots_input *input, struct roots *out);

/* Returns the size in bytes of those roots that are anonymous mappings of the program: no files, no
 * stacks, no memory of an allocator. 0 if the class ANON is excluded. */
uint64_t roots_anonymous_bytes(const struct roots *roots, const struct procmaps *maps);

#endif
