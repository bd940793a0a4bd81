/* link_map.h - what the loader's list of loaded objects says about names.
 *
 * Everything is read through the kernel (sys_peek), so that a list or an object that changes
 * meanwhile cannot cause a fault. No lock, no memory.
 */
#ifndef PRELOAD_ELF_LINK_MAP_H
#define PRELOAD_ELF_LINK_MAP_H

#include "preload/base/base.h"

#include <link.h>

/* The handle that dlopen gives for that file, or 0. dlopen's result never passes through libleak (a
 * hook that waited for it would be the caller, whose RUNPATH counts), so the object is looked up
 * afterwards, in the list of the main namespace. */
uint64_t link_map_find_object(const char *name);

struct link_map_function {
    char text[128];  /* NUL-terminated, cut */
    uint64_t offset; /* of the address in the function */
};

/* The exported function at an address, from the dynamic symbols of its object. A static function
 * has no name there, and is not mistaken for the exported one before it where that one's size
 * excludes it. scratch: room for some symbols, the more the faster. False: no exported function is
 * there. */
bool link_map_find_function(const struct link_map *map, uintptr_t address, char *scratch,
                            size_t size, struct link_map_function *out);

#endif
