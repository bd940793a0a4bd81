/* symbols.h - which function, or which object, of a symbol table covers this address?
 *
 * libdwfl answers that by going through the whole table, each time; a compiler's report asks for
 * ten thousand addresses of a file with as many symbols. So the table is sorted once, at the first
 * question. A symbol with a size covers that much and nothing behind it: in a stripped file the
 * nearest exported name is mostly a wrong one. One without (assembly) covers up to the next symbol.
 */
#ifndef COMMON_NAMES_SYMBOLS_H
#define COMMON_NAMES_SYMBOLS_H

#include <elfutils/libdwfl.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/base/interval_map.h"

struct symbols {
    Dwfl_Module *module; /* borrowed */
    struct spans sized, unsized;
    struct spans data, tls; /* objects; of the TLS segment by offset in it */
    bool sorted;
};

/* An object, and where it begins. */
struct symbol {
    const char *name; /* belongs to the module */
    uint64_t start;
    bool local; /* not seen outside its source file */
};

/* address: as libdwfl counts. NULL = nobody's. The name belongs to the module. */
const char *symbols_find(struct symbols *symbols, uint64_t address);
/* The object that covers an address, or an offset in the TLS segment. */
bool symbols_find_data(struct symbols *symbols, uint64_t address, bool tls, struct symbol *found);
void symbols_end(struct symbols *symbols);

#endif
