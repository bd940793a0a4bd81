/* type_index.h - the types of a file by name: definitions of what other units only declare, and the class
 * that a virtual table names. Built at the first question. */
#ifndef COMMON_TYPEINFO_TYPE_INDEX_H
#define COMMON_TYPEINFO_TYPE_INDEX_H

#include <elfutils/libdw.h>

#include "common/base/hashmap.h"

struct type_index {
    struct type_definition *found;
    size_t count, capacity;
    struct hashmap by_name; /* hash of the name without scopes -> index + 1 */
    bool built;
};

void type_index_end(struct type_index *index);

/* Replaces a declared structure by its definition. False: there is none, or there are two that
 * differ. Leaves what is defined as it is. */
bool type_index_define(struct type_index *index, Dwarf *dwarf, Dwarf_Die *type);

/* The class with a qualified name, as the demangler writes it. */
bool type_index_find(struct type_index *index, Dwarf *dwarf, const char *name, Dwarf_Die *type);

/* Is there a structure of that size that begins with the given one, and is not the same? */
bool type_index_begins(struct type_index *index, Dwarf *dwarf, Dwarf_Die *type, uint64_t size);

/* ---- Types by number ------------------------------------------------------------------------- */

/* Names a DIE of a file as long as the file does not change. offset 0: a type that has no number. */
struct type_id {
    uint64_t unit; /* 0: the file's own debug information; else 1 + offset of the skeleton unit */
    uint64_t offset;
};

struct type_id type_id_of(Dwarf *dwarf, Dwarf_Die *type);
bool type_id_find(Dwarf *dwarf, struct type_id id, Dwarf_Die *type);

#endif
