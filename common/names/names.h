/* names.h - what a function name tells: its demangled form, its parts, and whose code it is. */
#ifndef COMMON_NAMES_NAMES_H
#define COMMON_NAMES_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/arena.h"
#include "common/model/model.h"

/* ---- demangle.c: C++ and Rust names through libiberty ----------------------------------------
 *
 * Three guards against hostile or huge names: the result is cut off at a limit, long names are
 * demangled on a stack of their own, and a name that does not demangle is returned as it is. C
 * names lose what the compiler added (.constprop.0, @VERSION). */

/* The readable form of a mangled C++, D or Rust name; other names stay as they are. Never NULL;
 * lives in mem. */
const char *demangle(struct arena *mem, const char *name);

/* The start of the qualified name: it follows the return type, if a template function has one. */
const char *demangle_scope(const char *name);

/* Length of the qualified name, from demangle_scope() on, without its parameter list. */
size_t demangle_bare_length(const char *scope);

/* ---- frame_class.c: tables of module and function names --------------------------------------
 *
 * The role of a frame (user, runtime, wrapper, allocator) decides which frame a record is about.
 * The whole stack decides whether the C or C++ runtime keeps the block for the life of the process
 * (verdict "runtime"). */

/* Each argument may be NULL. file: of the function's line; identifies headers of libraries. */
enum frame_role classify_frame(const char *module, const char *function, const char *file);

/* Does the name end like that of a deallocator? xfree and g_free do, but so does node_free. */
bool classify_is_release_name(const char *function);

/* Does the name speak of allocating or copying, as those of zmalloc_usable, alloc_clear, ngx_alloc,
 * Pool::allocate and sdsnewlen do? So does node_alloc's, which is no wrapper. */
bool classify_is_allocation_name(const char *function);

/* The C and C++ libraries, the loader, and libleak itself. */
bool classify_is_runtime_module(const char *module);

/* Is that the file of CPython's interpreter, python3.11 or libpython3.11.so.1.0, or of what it calls C
 * functions with, _ctypes and libffi? */
bool classify_is_python_module(const char *module);

/* Is a Python source file a part of Python's own library? Packages that were installed are not. */
bool classify_is_python_library(const char *file);

bool classify_is_libleak_frame(const struct frame *frame);

/* Says whether the runtime of a language made the block for itself. frames: innermost first. user:
 * index of the user frame. block_size: bytes of one block, by which libstdc++'s emergency pool is
 * recognised. */
bool classify_is_runtime_block(const struct frame *const *frames, size_t count, size_t user,
                               uint64_t block_size);

#endif
