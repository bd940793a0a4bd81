/* module_lookup.h - which loaded object does a name mean?
 *
 * dlopen's answer never passes by us (a hook that waited for it would be the caller, whose RUNPATH
 * counts), so the object is looked for afterwards, in the loader's list of the main namespace. The
 * list may be changing while it is read: nothing read there can fault.
 */
#ifndef PRELOAD_ELF_MODULE_LOOKUP_H
#define PRELOAD_ELF_MODULE_LOOKUP_H

#include "preload/base/base.h"

/* The handle that dlopen gives for that file, or 0. */
uint64_t loaded_find(const char *name);

#endif
