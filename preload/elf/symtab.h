/* symtab.h - the functions and variables that an ELF file names, and matching a function's name.
 *
 * Includes static functions, which .symtab alone names and the loader does not map. A stripped file
 * has no .symtab; then its exported functions are all there is. Everything is read and nothing is
 * mapped from the file: it may be truncated meanwhile.
 */
#ifndef PRELOAD_ELF_SYMTAB_H
#define PRELOAD_ELF_SYMTAB_H

#include "preload/base/base.h"

enum symtab_found {
    SYMTAB_NONE,     /* no file, or one without names */
    SYMTAB_EXPORTED, /* it is stripped */
    SYMTAB_ALL,
};

/* A function or a variable. */
struct symtab_symbol {
    const char *name;
    uint64_t value, size; /* value: its address as linked, before relocation; size 0: unknown */
    bool is_static;       /* known by this name in one source file alone */
};

/* Visits each function. */
enum symtab_found symtab_each_function(const char *path,
                                       void (*visit)(const struct symtab_symbol *function,
                                                     void *context),
                                       void *context);

/* Visits each variable, without its name: takes no memory and no lock. A stripped file may name
 * none. */
void symtab_each_variable(const char *path,
                          void (*visit)(const struct symtab_symbol *variable, void *context),
                          void *context);

/* Is the symbol the function that the user means by that name?
 *
 * A C name, or a C++ name in its mangled form, is compared as it is. Of other C++ names only scopes
 * and a name are parsed: "_ZN4Pool4fillEi" matches Pool::fill. Parameters are not compared, so all
 * overloads match; wanted may have them in brackets. Templates and operators must be given in their
 * mangled form. Clones that the compiler made of a function match, parts split off from it
 * (.cold) do not. */
bool symtab_name_matches(const char *symbol, const char *wanted);

#endif
