/* golang.h - is code Go's, or linked together with Go's?
 *
 * Go's runtime asks the kernel itself which alternate signal stack a thread has, and so finds ours
 * (altstack.h), which no hook can hide. From then on it insists that its handlers are called there.
 */
#ifndef PRELOAD_UNWIND_GOLANG_H
#define PRELOAD_UNWIND_GOLANG_H

#include "preload/base/base.h"

/* Is Go's runtime in the object around an address? Takes no lock, never allocates: to be asked when
 * a handler is installed, which may be anywhere. */
bool golang_is_around(uintptr_t address);

/* Is it code of an object of which golang_is_around has said so? Go asks for its handlers through
 * libc before it runs any of the program's code. In every stack that ends early: a few compares. */
static inline bool golang_has(uintptr_t pc);

/* Does a PT_NOTE segment have the note of Go's linker? */
bool golang_is_noted(const char *notes, size_t length);

/* More copies of the runtime in one process are not told of. Filled from the front, never changed.
 */
#define GOLANG_OBJECTS 4
struct golang_object {
    uintptr_t start, size; /* size is published last */
};
extern struct golang_object golang_objects_[GOLANG_OBJECTS] HIDDEN;

static inline bool golang_has(uintptr_t pc)
{
    for (unsigned i = 0; i < GOLANG_OBJECTS; i++) {
        uintptr_t size = load_acquire(&golang_objects_[i].size);
        if (!size)
            return false;
        if (pc - golang_objects_[i].start < size)
            return true;
    }
    return false;
}

#endif
