/* golang.h - is code Go's, or linked together with Go's?
 *
 * Go's runtime asks the kernel itself which alternate signal stack a thread has, and so finds ours
 * (altstack.h), which no hook can hide. From then on it insists that its handlers are called there.
 */
#ifndef PRELOAD_GOLANG_H
#define PRELOAD_GOLANG_H

#include "preload/base.h"

/* Is Go's runtime in the object around an address? Takes no lock, never allocates: to be asked when
 * a handler is installed, which may be anywhere. */
bool golang_is_around(uintptr_t address);

/* Does a PT_NOTE segment have the note of Go's linker? */
bool golang_is_noted(const char *notes, size_t length);

#endif
