/* dwarf.h - which functions, inlined ones too, stand at this address of one ELF file?
 *
 * Two indices made on demand: units by address range (own, because many compilers write no
 * .debug_aranges), and in each unit that is asked for, functions by address range. Split units
 * (.dwo, .dwp) are followed. The Dwarf belongs to the caller and outlives this.
 */
#ifndef COMMON_NAMES_DWARF_H
#define COMMON_NAMES_DWARF_H

#include <stdbool.h>
#include <stddef.h>
#include <elfutils/libdw.h>

struct dwarf_index;

struct dwarf_index *dwarf_index_begin(Dwarf *dwarf);
void dwarf_index_end(struct dwarf_index *index); /* NULL is fine */

#define DWARF_INLINE_MAX 64

/* Texts belong to libdw. */
struct dwarf_frame {
    const char *name; /* linkage name if there is one, NULL = unknown */
    const char *file; /* NULL = unknown */
    unsigned line, column;
    bool inlined; /* into the next one */
};

/* Innermost first; 0 when no debug information covers the address. */
size_t dwarf_index_find(struct dwarf_index *index, Dwarf_Addr address,
                        struct dwarf_frame frames[DWARF_INLINE_MAX]);

/* The function around an address, as it stands there and not inlined elsewhere. */
bool dwarf_index_function(struct dwarf_index *index, Dwarf_Addr address, Dwarf_Die *function);

#endif
