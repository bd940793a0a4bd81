/* roots.h - where a program keeps pointers outside of its heap.
 *
 * In the picture of a process: the writable data of its objects, thread-local storage, the
 * registers and the live part of the stack of each thread, regions that the program named, and
 * anonymous mappings that are no allocator's, no stack and not ours. Each is a range of words with
 * a class; the option roots= leaves classes out. What was never touched is not read
 * (/proc/self/pagemap).
 */
#ifndef PRELOAD_ROOTS_ROOTS_H
#define PRELOAD_ROOTS_ROOTS_H

#include "preload/roots/heap_ranges.h"
#include "preload/roots/elf_images.h"
#include "preload/elf/procmaps.h"
#include "preload/signals/stop_the_world.h"
#include "preload/roots/scan_ranges.h"
#include "leak_store.h"

/* At the start of the process: the sizes of static thread-local storage. */
void roots_start(void);
/* "globals,stacks,...": a set of 1 << enum leak_root_class; false: a word is none. */
bool roots_read_classes(const char *list, size_t length, unsigned *out);

/* Regions that the program names. False: no memory. */
void roots_fork_lock(void);
void roots_fork_unlock(void);
bool roots_add(uintptr_t start, size_t size);
void roots_remove(uintptr_t start, size_t size);

/* A thread as the picture shows it. */
struct root_thread {
    int tid;
    uint32_t serial; /* 0 = never came to a hook */
    bool parked, taker;
    uintptr_t pc, sp, fp; /* 0 = not known */
    uintptr_t block;
    uintptr_t low, high; /* of its own stack, 0 = not known */
    const ucontext_t *context;
    const struct thread *state;
};

struct roots {
    struct pieces pieces;
    struct root_thread *seen;
    uint32_t seen_count;
};

/* Who takes the look: the words from sp on are its live stack; what its registers held lies below
 * frame. */
struct roots_taker {
    int tid;
    uintptr_t sp, frame, pc, fp;
    const ucontext_t *context; /* in a handler: what it has interrupted */
};

struct roots_picture {
    const struct maps *maps;
    const struct images *images;
    const struct park *park;
    const struct roots_taker *taker;
    const struct reach *reach;
    unsigned classes;
    bool stopped; /* else stacks are read as a whole */
};

bool roots_find(const struct roots_picture *picture, struct roots *out);

/* Bytes of what was found that the program had from the kernel itself: no file's, no stack, and
 * nowhere near a block. 0 where the class ANON is not asked for. */
uint64_t roots_apart(const struct roots *roots, const struct maps *maps);

#endif
