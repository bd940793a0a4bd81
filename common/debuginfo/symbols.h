/* symbols.h - finds the function, or the object, of a symbol table that covers an address.
 * libdwfl scans the whole table for each lookup, and a report on a compiler looks up ten
 * thousand addresses in a file with as many symbols.
 *
 * So here the table is sorted once, at the first lookup. A symbol with a size covers exactly
 * that range: in a stripped file the nearest exported name is mostly wrong. A symbol without a
 * size (assembly) extends to the next symbol or the end of its section, but not into code with
 * unwind information where it has none itself.
 */
#ifndef COMMON_DEBUGINFO_SYMBOLS_H
#define COMMON_DEBUGINFO_SYMBOLS_H

#include <elfutils/libdwfl.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/base/interval_map.h"

struct symbols {
    Dwfl_Module *module; /* borrowed from the caller */
    struct interval_map sized, unsized;
    struct interval_map data, tls; /* objects with a fixed address; objects in the TLS segment,
                                    * by their offset there */
    bool sorted;
};

/* An object: a variable with a symbol. */
struct symbol {
    const char *name; /* string of the Dwfl_Module, which frees it */
    uint64_t start;
    bool local; /* the symbol is local to its source file (static) */
};

/* The name of the function at an address of libdwfl (elf_binary_parts.to_symbols); NULL = none.
 * Belongs to the module. */
const char *symbols_find(struct symbols *symbols, uint64_t address);
/* Finds the object that covers an address, or with `tls` an offset in the TLS segment. False:
 * none. */
bool symbols_find_data(struct symbols *symbols, uint64_t address, bool tls, struct symbol *found);
void symbols_end(struct symbols *symbols);

#endif
