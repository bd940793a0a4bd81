/* names.h - what the name of a function shows: its demangled form, its parts, and whose code it
 * is. */
#ifndef COMMON_NAMES_NAMES_H
#define COMMON_NAMES_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/arena.h"
#include "common/model/model.h"

/* ---- demangle.c: C++ and Rust names through libiberty ----------------------------------------
 *
 * Hostile or huge names do no harm: a result has a limit, long names are demangled on a stack of
 * their own, and a name that cannot be demangled is returned unchanged. C names lose what the
 * compiler added (.constprop.0, @VERSION). */

/* The readable form of a mangled C++, D or Rust name; other names stay unchanged. Never NULL;
 * lives in mem. */
const char *demangle(struct arena *mem, const char *name);

/* The start of the qualified name in a demangled name: behind the return type, which template
 * functions have. */
const char *demangle_scope(const char *name);

/* The length of a qualified name, from demangle_scope() on, without its parameter list. */
size_t demangle_bare_length(const char *scope);

/* Copies a qualified name, from demangle_scope() on, without parameter lists, also without those of
 * functions that contain the class: "f::Local::run" of "f(int)::Local::run() const". Returns its
 * length; 0 = it does not fit. */
size_t demangle_copy_name(const char *scope, char *to, size_t size);

/* Finds the function that contains a lambda, in the demangled name of the lambda's code, such as
 * "void app::run(int)::{lambda(int)#1}::operator()(int) const". Returns where its qualified name
 * starts and sets *length, without parameters; NULL = the name is not that of a lambda. */
const char *demangle_lambda_owner(const char *name, size_t *length);

/* Says whether a name is that of a member of a class template, such as
 * std::vector<int>::push_back(). */
bool demangle_is_template_member(const char *name);

/* ---- name_words.c: what the words of a function's name say, in C and C++ ---------------------- */

/* Says whether a function releases what it is given: node_free, closeAll, ~Node. */
bool name_says_release(const char *function);
/* Says whether a function replaces a block by a larger one: buffer_grow, rehash. */
bool name_says_growth(const char *function);

#define NAME_WORD_SIZE 128

/* Copies the first two words of a function's name, in lower case; returns how many it has, 2 at
 * most. A function that undoes one with two words has at least one of them in its symbol. */
size_t name_first_words(const char *function, char words[2][NAME_WORD_SIZE]);
/* Says how clearly the name of a function says that it undoes what another one does, as node_free
 * and node_new, ~Node and Node: 0 = not at all, 2 = the usual word for it. */
unsigned name_undoes(const char *function, const char *maker);

/* ---- frame_class.c: tables of module and function names --------------------------------------
 *
 * The role of a frame (user, runtime, wrapper, allocator) decides which frame is the headline of
 * a record. The whole stack decides whether the C or C++ runtime keeps the block for the life of
 * the process (verdict "runtime"). */

/* Says whether a text is one of a table of texts. */
bool name_is_in(const char *text, const char *const *table, size_t count);
#define NAME_IS_IN(text, table) name_is_in(text, table, sizeof(table) / sizeof(*(table)))

/* Classifies a frame. Each argument may be NULL. file: source file of the line, which shows code
 * from headers of libraries. */
enum frame_role classify_frame(const char *module, const char *function, const char *file);

/* Says whether a name ends like a deallocator's, as xfree and g_free do; node_free does, too. */
bool classify_is_release_name(const char *function);

/* Says whether a name contains a word for allocating or copying, as zmalloc_usable, alloc_clear,
 * ngx_alloc, Pool::allocate and sdsnewlen do; node_alloc does, too, which is no wrapper. */
bool classify_is_allocation_name(const char *function);

/* Says whether a module is a C or C++ library, the loader, or libleak itself. */
bool classify_is_runtime_module(const char *module);

/* Says whether a module is CPython's interpreter (python3.11, libpython3.11.so.1.0), or one with
 * which it calls C functions (_ctypes, libffi). */
bool classify_is_python_module(const char *module);

/* Says whether a Python source file belongs to Python's own library. Installed packages do not. */
bool classify_is_python_library(const char *file);

bool classify_is_libleak_frame(const struct frame *frame);

/* Says whether the runtime of a language allocated the block for itself. frames: innermost
 * first. user: index of the user's frame. block_size: bytes of one block, by which libstdc++'s
 * emergency pool is recognized. */
bool classify_is_runtime_block(const struct frame *const *frames, size_t count, size_t user,
                               uint64_t block_size);

#endif
