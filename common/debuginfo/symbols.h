/* symbols.h - which function, or which object, of a symbol table covers an address? libdwfl scans
 * the whole table for each lookup, and the report of a compiler looks up ten thousand addresses in
 * a file with as many symbols.
 *
 * So the table is sorted once, at the first lookup. A symbol with a size covers exactly that range:
 * in a stripped file the nearest exported name is mostly wrong. A symbol without a size (assembly)
 * extends to the next symbol.
 */
#ifndef COMMON_DEBUGINFO_SYMBOLS_H
#define COMMON_DEBUGINFO_SYMBOLS_H

#include <elfutils/libdwfl.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/base/interval_map.h"

struct symbols {
    Dwfl_Module *module; /* borrowed */
    struct interval_map sized, unsized;
    struct interval_map data, tls; /* objects; those of the TLS segment by offset */
    bool sorted;
};

/* An object and its start. */
struct symbol {
    const char *name; /* belongs to the module */
    uint64_t start;
    bool local; /* static */
};

/* The function at an address as libdwfl counts; NULL = none. The name belongs to the module. */
const char *symbols_find(struct symbols *symbols, uint64_t address);
/* The object that covers an address, or an offset in the TLS segment. */
bool symbols_find_data(struct symbols *symbols, uint64_t address, bool tls, struct symbol *found);
void symbols_end(struct symbols *symbols);

#endif
