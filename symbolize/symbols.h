/* symbols.h - which function of a symbol table covers this address?
 *
 * libdwfl answers that by going through the whole table, each time; a compiler's report asks for
 * ten thousand addresses of a file with as many symbols. So the table is sorted once, at the first
 * question. A symbol with a size covers that much and nothing behind it: in a stripped file the
 * nearest exported name is mostly a wrong one. One without (assembly) covers up to the next symbol.
 */
#ifndef SYMBOLIZE_SYMBOLS_H
#define SYMBOLIZE_SYMBOLS_H

#include <elfutils/libdwfl.h>
#include <stdbool.h>
#include <stdint.h>

#include "symbolize/spans.h"

struct symbols {
    Dwfl_Module *module; /* borrowed */
    struct spans sized, unsized;
    bool sorted;
};

/* address: as libdwfl counts. NULL = nobody's. The name belongs to the module. */
const char *symbols_find(struct symbols *symbols, uint64_t address);
void symbols_end(struct symbols *symbols);

#endif
