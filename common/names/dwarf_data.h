/* dwarf_data.h - which variable lies at this address: a global, a static local, one on a stack.
 *
 * Variables with an address of their own are indexed by where they begin, at the first question:
 * those of units and namespaces, and, only when one is asked for that these do not have, those
 * inside functions. A variable on a stack is looked for in the one function whose frame it is.
 */
#ifndef COMMON_NAMES_DWARF_DATA_H
#define COMMON_NAMES_DWARF_DATA_H

#include <stdbool.h>
#include <stdint.h>
#include <elfutils/libdw.h>

#include "common/base/hashmap.h"

struct dwarf_data {
    Dwarf *dwarf; /* borrowed */
    struct variable *variables;
    size_t count, capacity;
    struct map by_start; /* address -> index + 1 */
    bool indexed, indexed_locals;
};

/* Texts belong to libdw. */
struct dwarf_variable {
    const char *name;     /* as in the source */
    const char *function; /* whose it is: linkage name if there is one; NULL = nobody's */
    const char *file;     /* where it is declared, NULL = unknown */
    unsigned line;
};

#define DWARF_DATA_TLS (1ull << 63) /* start is an offset in the TLS segment, plus this */

/* The one that begins there. local: it may be inside a function. */
bool dwarf_data_find(struct dwarf_data *data, uint64_t start, bool local,
                     struct dwarf_variable *found);
void dwarf_data_end(struct dwarf_data *data);

/* The variable of a function (a concrete one: dwarf_index_function) that covers an address in its
 * frame, at that pc. *start: where it begins. */
bool dwarf_data_local(Dwarf_Die *function, uint64_t pc, uint64_t cfa, uint64_t address,
                      struct dwarf_variable *found, uint64_t *start);

#endif
