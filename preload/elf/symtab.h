/* symtab.h - lists the functions and variables that an ELF file names, and compares their names
 * with a name that the user gave.
 *
 * Static functions are included: only the section .symtab names them, which the loader does not
 * map. A stripped file has no .symtab, so only its exported functions are listed. The file is read
 * and not mapped, because another process may truncate it meanwhile.
 */
#ifndef PRELOAD_ELF_SYMTAB_H
#define PRELOAD_ELF_SYMTAB_H

#include "preload/base/base.h"

enum symtab_found {
    SYMTAB_NONE,     /* there is no such file, or it has no names */
    SYMTAB_EXPORTED, /* the file is stripped: only exported functions were visited */
    SYMTAB_ALL,
};

/* A function or a variable that an ELF file names. */
struct symtab_symbol {
    const char *name;
    uint64_t value, size; /* value: address before the object is relocated; size 0: unknown */
    bool is_static;       /* declared static: only its own source file knows the name */
};

/* Visits each function that the file names. Says which kinds of names the file has. */
enum symtab_found symtab_each_function(const char *path,
                                       void (*visit)(const struct symtab_symbol *function,
                                                     void *context),
                                       void *context);

/* Visits each variable that the file names, without giving its name. It allocates nothing and takes
 * no lock. In a stripped file there may be no names. */
void symtab_each_variable(const char *path,
                          void (*visit)(const struct symtab_symbol *variable, void *context),
                          void *context);

/* Says whether a symbol is the function that the user means by the wanted name.
 *
 * A C name, or a C++ name in its mangled form, is compared as it is. Otherwise, of a mangled C++
 * symbol only the scopes and the name are parsed: "_ZN4Pool4fillEi" matches Pool::fill. Parameters
 * are not compared, so all overloads match; the wanted name may have them in brackets. Templates
 * and operators must be given in their mangled form. Clones that the compiler made of a function
 * match, parts split off from it (.cold) do not. */
bool symtab_name_matches(const char *symbol, const char *wanted);

#endif
