/* safe_place.h - may a stopped thread be made to call dlopen where it stands?
 *
 * Not inside the allocator, the loader, libleak, fork, or what ends the process; not in a
 * restartable sequence; in a signal handler only if what it has interrupted is such a place, and
 * libc only where it waits in a system call: some programs live in a handler, and libleak's own
 * waits in the call that a leak check interrupted. The stack is walked from outside, by the objects'
 * unwind tables; where they end (generated code, assembly) the words of the rest of the stack are
 * judged instead, as if each were a return address. */
#ifndef ATTACH_SAFE_PLACE_H
#define ATTACH_SAFE_PLACE_H

#include <stdbool.h>

#include "attach/loaded_objects.h"
#include "attach/tracee.h"

struct safe_place; /* what is prepared before a thread stops */

/* Prepares the search for a safe place. library: the file of libleak, or NULL. */
struct safe_place *safe_place_begin(const struct tracee *tracee, const struct objects *objects,
                                    const char *library);
void safe_place_end(struct safe_place *place);

/* The thread is stopped by tracee_interrupt. NULL: it is at a safe place; else where it is. */
const char *safe_place_obstacle(struct safe_place *place, const struct tracee *tracee);

#endif
