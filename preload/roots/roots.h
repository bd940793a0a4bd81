/* roots.h - where a program keeps pointers outside its heap.
 *
 * The roots of a snapshot are: writable data of ELF objects, thread-local storage, registers and
 * the live part of each thread's stack, regions that the program registered, and anonymous mappings
 * that are neither an allocator's, a stack, nor libleak's. Each root is a range of words with a
 * class; the option roots= excludes classes. Untouched pages are not read (/proc/self/pagemap).
 */
#ifndef PRELOAD_ROOTS_ROOTS_H
#define PRELOAD_ROOTS_ROOTS_H

#include "preload/roots/heap_ranges.h"
#include "preload/roots/elf_images.h"
#include "preload/signals/stop_the_world.h"
#include "preload/roots/scan_ranges.h"

/* Reads the size of static thread-local storage; call at the start of the process. */
void roots_start(void);
/* Parses "globals,stacks,..." into a set of 1 << enum leak_root_class; false: unknown word. */
bool roots_parse_classes(const char *list, size_t length, unsigned *out);

/* Regions that the program registers. False: no memory. */
bool roots_add_region(uintptr_t start, size_t size);
void roots_remove_region(uintptr_t start, size_t size);

/* A thread in the snapshot. */
struct root_thread {
    int tid;
    uint32_t serial; /* 0 = it has never entered a hook */
    bool stopped, caller;
    uintptr_t pc, sp, fp; /* 0 = unknown */
    uintptr_t block;
    uintptr_t low, high; /* of its own stack, 0 = unknown */
    const ucontext_t *context;
    const struct thread *state;
};

struct roots {
    struct scan_ranges ranges;
    struct root_thread *threads;
    uint32_t thread_count;
    bool glibc; /* the allocator is the C library's */
};

/* The thread that requests the leak check: its live stack begins at sp; the words that its
 * registers held are below frame. */
struct roots_caller {
    int tid;
    uintptr_t sp, frame, pc, fp;
    const ucontext_t *context; /* in a signal handler: the interrupted context */
};

struct roots_input {
    const struct procmaps *maps;
    const struct elf_images *images;
    const struct world *world;
    const struct roots_caller *caller;
    const struct reach *reach;
    unsigned classes;
    bool stopped; /* false: the world was running, and whole stacks are read */
};

bool roots_find(const struct roots_input *input, struct roots *out);

/* The bytes of the roots that are anonymous mappings of the program: no file, no stack, no block
 * near. 0 if the class ANON is excluded. */
uint64_t roots_anonymous_bytes(const struct roots *roots, const struct procmaps *maps);

#endif
