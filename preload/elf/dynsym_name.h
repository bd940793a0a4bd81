/* dynsym_name.h - the name of a function, from the table by which the loader links objects.
 *
 * Only what an object exports is there; a static function has no name, and the one before it is not
 * taken for it where sizes say otherwise. No lock, no memory: the tables lie in the object itself,
 * and are read through the kernel.
 */
#ifndef PRELOAD_ELF_DYNSYM_NAME_H
#define PRELOAD_ELF_DYNSYM_NAME_H

#include "preload/base/base.h"

#include <link.h>

struct name {
    char text[128];  /* NUL-terminated, cut */
    uint64_t offset; /* of the address in the function */
};

/* False: no exported function is there. scratch: room for some symbols, the more the quicker. */
bool names_find(const struct link_map *map, uintptr_t address, char *scratch, size_t size,
                struct name *out);

#endif
