/* dwarf.h - finds the functions, inlined ones included, or the variable at an address of one ELF
 * file.
 *
 * To find functions there are two kinds of index, made on demand: one of the compilation units by
 * address range (built here, because many compilers write no .debug_aranges), and in each unit
 * that is needed one of its functions by address range. Split units (.dwo, .dwp) are followed.
 *
 * Variables with a fixed address are indexed at the first lookup: first those of units and
 * namespaces; those inside functions only when a lookup of a local symbol needs them. A variable
 * on a stack is searched in the one function whose frame it belongs to.
 *
 * The Dwarf and the table of source paths belong to the caller and must outlive the indices.
 * Strings belong to libdw and to the table of source paths.
 */
#ifndef COMMON_DEBUGINFO_DWARF_H
#define COMMON_DEBUGINFO_DWARF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <elfutils/libdw.h>

#include "common/base/hashmap.h"
#include "common/debuginfo/source_path.h"

/* ---- Functions ------------------------------------------------------------------------------- */

struct dwarf_index;

struct dwarf_index *dwarf_index_begin(Dwarf *dwarf, struct source_paths *paths);
void dwarf_index_end(struct dwarf_index *index); /* does nothing if index is NULL */

#define DWARF_INLINE_MAX 64

struct dwarf_frame {
    const char *name; /* linkage name if there is one, else the source name; NULL = unknown */
    const char *file; /* source file of the line, NULL = unknown */
    unsigned line, column;
    bool inlined; /* the compiler inlined this function into that of the next frame */
    /* of a call operator without a linkage name: the function that contains the lambda, a linkage
     * name if there is one, or the class; NULL = unknown */
    const char *scope;
    bool in_lambda;
    bool local; /* the name is the short one of a function inside of another; its symbol has more */
};

/* Finds the frames at an address, innermost first. Returns their number; 0 = no debug
 * information covers the address. */
size_t dwarf_index_find(struct dwarf_index *index, Dwarf_Addr address,
                        struct dwarf_frame frames[DWARF_INLINE_MAX]);

/* Finds the functions around an address, inlined ones included, the outermost first. Returns
 * their number; 0 = none. */
size_t dwarf_index_scopes(struct dwarf_index *index, Dwarf_Addr address,
                          Dwarf_Die scopes[DWARF_INLINE_MAX]);

/* A function, and the directory in which its unit was compiled, NULL = unknown. */
struct dwarf_function {
    Dwarf_Die die;
    const char *directory;
};

/* Finds the function around an address that has code of its own: not an inlined one. False:
 * none. */
bool dwarf_index_function(struct dwarf_index *index, Dwarf_Addr address,
                          struct dwarf_function *function);

/* Says how well the name of a function is what is searched for; 0 = not at all. */
typedef unsigned dwarf_name_fits(const char *name, void *context);

/* Finds the function with the best name among those that the unit around an address defines. The
 * frame gets the line of its declaration. False: no name fits. */
bool dwarf_index_named(struct dwarf_index *index, Dwarf_Addr address, dwarf_name_fits *fits,
                       void *context, struct dwarf_frame *found);

/* ---- Variables ------------------------------------------------------------------------------- */

struct dwarf_data {
    Dwarf *dwarf; /* borrowed from the caller, like `paths` */
    struct source_paths *paths;
    struct variable *variables;
    size_t count, capacity;
    struct hashmap by_start; /* address of a variable -> 1 + index in variables[] */
    bool indexed, indexed_locals;
};

struct dwarf_variable {
    const char *name;     /* name in the source */
    const char *function; /* function that declares the variable: linkage name if there is one;
                           * NULL = none */
    const char *file;     /* source file of the declaration, NULL = unknown */
    unsigned line;
    Dwarf_Die die;
};

#define DWARF_DATA_TLS (1ull << 63) /* bit that marks a start as an offset in the TLS segment */

/* Finds the variable that begins at the address `start`. local: also search static variables in
 * functions. False: there is none. */
bool dwarf_data_find(struct dwarf_data *data, uint64_t start, bool local,
                     struct dwarf_variable *found);
/* Finds the DIE of the variable that begins at the address `start`. local: also search static
 * variables in functions. False: there is none. */
bool dwarf_data_find_die(struct dwarf_data *data, uint64_t start, bool local, Dwarf_Die *die);
void dwarf_data_end(struct dwarf_data *data);

/* Finds the variable of a function (from dwarf_index_function) that covers an address in the
 * function's stack frame at this pc. *start: address where the variable begins. False: no variable
 * covers the address. */
bool dwarf_data_local(struct dwarf_function *function, struct source_paths *paths, uint64_t pc,
                      uint64_t cfa, uint64_t address, struct dwarf_variable *found,
                      uint64_t *start);

#endif
