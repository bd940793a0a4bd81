/* link_map.h - finds loaded objects and exported functions by name, in the loader's list of objects.
 *
 * Everything is read through the kernel (sys_peek), so that a list or an object that changes
 * meanwhile cannot cause a fault. It takes no lock and allocates nothing.
 */
#ifndef PRELOAD_ELF_LINK_MAP_H
#define PRELOAD_ELF_LINK_MAP_H

#include "preload/base/base.h"

#include <link.h>

/* Returns the handle that dlopen gives for the object with that file name, 0: it is not loaded.
 * libleak needs it because dlopen's result never passes through the hook: the hook jumps to dlopen
 * instead of calling it, so that the RUNPATH of dlopen's real caller counts. Searches the list of
 * the main namespace. */
uint64_t link_map_find_object(const char *name);

struct link_map_function {
    char text[128];  /* name of the function, NUL-terminated, cut to fit */
    uint64_t offset; /* offset of the address from the start of the function */
};

/* Finds the exported function that contains an address, among the dynamic symbols of its object. A
 * static function has no dynamic symbol; it is not mistaken for the exported function before it if
 * the size of that function shows where it ends. scratch: memory for a part of the symbol table,
 * the larger the faster. False: no exported function is there. */
bool link_map_find_function(const struct link_map *map, uintptr_t address, char *scratch,
                            size_t size, struct link_map_function *out);

#endif
