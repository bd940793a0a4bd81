/* safe_place.h - says whether a stopped thread is at a place where it may be made to call dlopen.
 *
 * It must not be inside of the allocator, the loader, libleak, fork, or a function that ends the
 * process, nor in a restartable sequence. In a signal handler, the interrupted code must be such a
 * place as well, and code of libc only if it waits in a system call: some programs run in a handler
 * all the time. leakctl unwinds the stack with the unwind tables of the objects. Where they end
 * (generated code, assembly), all words of the rest of the stack are judged as if each were a
 * return address. */
#ifndef ATTACH_SAFE_PLACE_H
#define ATTACH_SAFE_PLACE_H

#include <stdbool.h>

#include "attach/loaded_objects.h"
#include "attach/tracee.h"

struct safe_place; /* prepared before a thread is stopped */

/* Prepares the search for a safe place. library: path of libleak.so, from which frames of a
 * libleak in the process are unwound; NULL: none. */
struct safe_place *safe_place_begin(const struct tracee *tracee, const struct objects *objects,
                                    const char *library);
void safe_place_end(struct safe_place *place);

/* Judges a thread that tracee_interrupt has stopped. NULL: it is at a safe place; else the words
 * say where it is. */
const char *safe_place_obstacle(struct safe_place *place, const struct tracee *tracee);

#endif
