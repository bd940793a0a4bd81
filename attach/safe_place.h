/* safe_place.h - may a stopped thread be made to call dlopen where it stands?
 *
 * Not inside the allocator, the loader, libleak, a signal handler, fork, or what ends the process;
 * not in a restartable sequence. Its stack is walked from outside, by the objects' unwind tables;
 * where they end (generated code, assembly) the words of the rest of the stack are judged instead,
 * as if each were a return address. */
#ifndef ATTACH_SAFE_PLACE_H
#define ATTACH_SAFE_PLACE_H

#include <stdbool.h>

#include "attach/loaded_objects.h"
#include "attach/tracee.h"

struct safe_place; /* what is prepared before a thread stops */

struct safe_place *safe_place_begin(const struct tracee *tracee, const struct objects *objects);
void safe_place_end(struct safe_place *place);

/* The thread is stopped by tracee_interrupt. NULL: it is at a safe place; else where it is. */
const char *safe_place_obstacle(struct safe_place *place, const struct tracee *tracee);

#endif
