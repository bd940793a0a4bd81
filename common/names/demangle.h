/* demangle.h - names as people write them, from names as linkers write them.
 *
 * C++ and Rust through libiberty, with three guards against hostile or huge names: the result is
 * cut off at a limit, long names are taken apart on a stack of their own, and what does not
 * demangle is given back as it is. C names lose what the compiler added (.constprop.0, @VERSION).
 */
#ifndef COMMON_NAMES_DEMANGLE_H
#define COMMON_NAMES_DEMANGLE_H

#include "common/base/arena.h"

/* Never NULL; lives in mem. */
const char *demangle(struct mem *mem, const char *name);

/* Where the qualified name begins: behind a template function's return type, if any. */
const char *demangle_scope(const char *name);

/* Length, from demangle_scope() on, of the qualified name without its parameter list. */
size_t demangle_bare_length(const char *scope);

#endif
