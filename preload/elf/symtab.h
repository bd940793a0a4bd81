/* symtab.h - the functions that the file of a loaded object names, those included that nobody else
 * may call: static ones are in its .symtab, which the loader does not map. A stripped file has
 * none; then it is its exported functions.
 *
 * Everything is read, nothing is mapped from the file: it may be cut short meanwhile.
 */
#ifndef PRELOAD_ELF_SYMTAB_H
#define PRELOAD_ELF_SYMTAB_H

#include "preload/base/base.h"

enum symtab_found {
    SYMTAB_NONE,     /* no file, or one without names */
    SYMTAB_EXPORTED, /* it is stripped */
    SYMTAB_ALL,
};

/* One function, or variable. */
struct symtab_symbol {
    const char *name;
    uint64_t value, size; /* its place before the object was moved to where it is; 0: nobody says */
    bool is_static;       /* of one source file, which alone knows it by this name */
};

/* Visits each function. */
enum symtab_found symtab_each(const char *path,
                              void (*visit)(const struct symtab_symbol *function, void *context),
                              void *context);

/* Visits each variable, without its name: takes no memory and no lock. A stripped file may name
 * none. */
void symtab_each_variable(const char *path,
                          void (*visit)(const struct symtab_symbol *variable, void *context),
                          void *context);

#endif
