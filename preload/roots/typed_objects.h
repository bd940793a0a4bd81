/* typed_objects.h - recognises objects to which the program has only interior pointers, because
 * other data lie in front of them in their block, by the type that each object names:
 *
 *     Python    | attributes | header of the garbage collector | references | type | ...
 *                                                                             type -> ... -> `type`
 *     GObject   | private data of the classes | class | references | ...
 *                                               class -> type -> data of the type -> class
 *
 * The type of a type of Python leads to `type`, which is its own type and has that name. A class of
 * GObject leads to its type, and the type back to the class. Private data lie only in front of an
 * instance, so their length depends on the class of the instance, and differs from object to
 * object. */
#ifndef PRELOAD_ROOTS_TYPED_OBJECTS_H
#define PRELOAD_ROOTS_TYPED_OBJECTS_H

#include "preload/elf/procmaps.h"

/* Says whether an object begins at this offset of a block. Reads memory of the program outside of
 * the block, in the process copy of a leak check, where the mappings allow it. */
bool typed_objects_begin_at(const struct procmaps *maps, uintptr_t block, uint64_t offset,
                            uint64_t size);

#endif
