/* golang.h - does an address lie in an object that contains the Go runtime?
 *
 * The Go runtime makes its own sigaltstack system call, so it finds the runtime's alternate signal
 * stack (altstack.h), which no hook can hide. From then on it insists that its handlers run there.
 */
#ifndef PRELOAD_INTERPOSE_GOLANG_H
#define PRELOAD_INTERPOSE_GOLANG_H

#include "preload/base/base.h"

/* Does the object around an address contain the Go runtime? If so the object is remembered. Takes
 * only its own lock and never allocates: it is called when a handler is installed,
 * which may be anywhere. */
bool golang_detect(uintptr_t address);

/* Is pc in an object that golang_detect has found? Go installs its handlers through libc before it
 * runs any of the program's code, so its objects are known by then. Called for every stack that
 * ends early: costs a few compares. */
static inline bool golang_contains(uintptr_t pc);

/* Does a PT_NOTE segment contain the note of the Go linker? */
bool golang_has_note(const char *notes, size_t length);

/* Further Go runtimes in one process are ignored. Filled from the front; entries never change. */
#define GOLANG_OBJECTS 4
struct golang_object {
    uintptr_t start, size; /* size is published last */
};
extern struct golang_object golang_objects[GOLANG_OBJECTS] HIDDEN;

static inline bool golang_contains(uintptr_t pc)
{
    for (unsigned i = 0; i < GOLANG_OBJECTS; i++) {
        uintptr_t size = load_acquire(&golang_objects[i].size);
        if (!size)
            return false;
        if (pc - golang_objects[i].start < size)
            return true;
    }
    return false;
}

#endif
