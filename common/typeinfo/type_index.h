/* type_index.h - finds the types of a file by name: the definition of a type that another unit
 * only declares, and the class that a virtual table belongs to. The index is built at the first
 * lookup. */
#ifndef COMMON_TYPEINFO_TYPE_INDEX_H
#define COMMON_TYPEINFO_TYPE_INDEX_H

#include <elfutils/libdw.h>

#include "common/base/hashmap.h"

struct type_index {
    struct type_definition *found;
    size_t count, capacity;
    struct hashmap by_name; /* hash of the name without scopes -> 1 + index in found[] */
    bool built;
};

void type_index_end(struct type_index *index);

/* Replaces a type that is only declared by its definition. Leaves other types unchanged. False:
 * there is no definition, or there are two with different sizes. */
bool type_index_define(struct type_index *index, Dwarf *dwarf, Dwarf_Die *type);

/* Finds the class with a qualified name, as the demangler writes it. False: there is none. */
bool type_index_find(struct type_index *index, Dwarf *dwarf, const char *name, Dwarf_Die *type);

/* Says whether objects of some other type with `size` bytes begin with an object of the given type,
 * as a base class or first member. */
bool type_index_begins(struct type_index *index, Dwarf *dwarf, Dwarf_Die *type, uint64_t size);

/* ---- Types by number ------------------------------------------------------------------------- */

/* A number for a DWARF entry (DIE) of a file, valid as long as the file does not change. offset 0:
 * the type has no number. */
struct type_id {
    /* 0: the entry is in the file itself; else 1 + offset of the skeleton of its split unit */
    uint64_t unit;
    uint64_t offset;
};

struct type_id type_id_of(Dwarf *dwarf, Dwarf_Die *type);
bool type_id_find(Dwarf *dwarf, struct type_id id, Dwarf_Die *type);

#endif
