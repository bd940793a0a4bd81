/* golang.h - says whether an address lies in an object that contains the Go runtime.
 *
 * The Go runtime makes the sigaltstack system call itself, so no hook can hide libleak's alternate
 * signal stack (altstack.h) from it. Once Go has found that stack, it insists that its signal
 * handlers run there.
 */
#ifndef PRELOAD_INTERPOSE_GOLANG_H
#define PRELOAD_INTERPOSE_GOLANG_H

#include "preload/base/base.h"

/* Says whether the object around an address contains the Go runtime, and remembers that object. It
 * takes only its own lock and allocates nothing, because a program may install a signal handler
 * anywhere, and then calls this. */
bool golang_detect(uintptr_t address);

/* Says whether pc is in an object that golang_detect has found. Go installs its signal handlers
 * through libc before it runs any code of the program, and golang_detect is called then: so Go's
 * objects are known by the time a stack contains code of Go. Called for every call stack that ends
 * before main; costs a few comparisons. */
bool golang_contains(uintptr_t pc);

/* Says whether a PT_NOTE segment contains the note of the Go linker. */
bool golang_has_note(const char *notes, size_t length);

#endif
