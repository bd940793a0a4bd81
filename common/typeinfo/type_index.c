/* type_index.c - finds definitions of types by name, and types by number. */
#include "common/typeinfo/type_index.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/arena.h"
#include "common/typeinfo/type_info.h"

#define NESTING 8
#define DEFINITIONS_MOST (1u << 20)

struct type_definition {
    Dwarf_Die die;
    uint64_t size;
    bool ambiguous; /* definitions with that name have different sizes */
};

void type_index_end(struct type_index *index)
{
    free(index->found);
    hashmap_end(&index->by_name);
    *index = (struct type_index){.count = 0};
}

/* ---- Building the index ---------------------------------------------------------------------- */

static void add_definition(struct type_index *index, Dwarf_Die *die)
{
    const char *name = dwarf_diename(die);
    uint64_t size = type_size(die), *slot;
    bool fresh;

    if (!name || !size || index->count == DEFINITIONS_MOST)
        return;
    slot = hashmap_put(&index->by_name, hash_text(1, name, strlen(name)), &fresh);
    if (!fresh) {
        struct type_definition *known = &index->found[*slot - 1];

        known->ambiguous |= known->size != size;
        return;
    }
    index->found =
        array_grow(index->found, &index->capacity, index->count + 1, sizeof(*index->found));
    index->found[index->count] = (struct type_definition){.die = *die, .size = size};
    *slot = ++index->count;
}

static void add_definitions(struct type_index *index, Dwarf_Die *parent, int nesting)
{
    Dwarf_Die die;

    if (nesting == NESTING || dwarf_child(parent, &die) != 0)
        return;
    do {
        if (type_is_aggregate(&die))
            add_definition(index, &die);
        if (dwarf_tag(&die) == DW_TAG_namespace || dwarf_tag(&die) == DW_TAG_class_type ||
            dwarf_tag(&die) == DW_TAG_structure_type)
            add_definitions(index, &die, nesting + 1);
    } while (dwarf_siblingof(&die, &die) == 0);
}

static void build_index(struct type_index *index, Dwarf *dwarf)
{
    Dwarf_CU *cu = NULL;
    Dwarf_Die die, split;
    uint8_t type;

    while (!index->built && dwarf_get_units(dwarf, cu, &cu, NULL, &type, &die, &split) == 0)
        add_definitions(
            index,
            type == DW_UT_skeleton && dwarf_tag(&split) == DW_TAG_compile_unit ? &split : &die, 0);
    index->built = true;
}

/* ---- Looking up types ------------------------------------------------------------------------ */

static const struct type_definition *find_definition(struct type_index *index, Dwarf *dwarf,
                                                     const char *name)
{
    uint64_t at;

    build_index(index, dwarf);
    at = hashmap_get(&index->by_name, hash_text(1, name, strlen(name)));
    return at && !index->found[at - 1].ambiguous ? &index->found[at - 1] : NULL;
}

bool type_index_define(struct type_index *index, Dwarf *dwarf, Dwarf_Die *type)
{
    const struct type_definition *found;
    Dwarf_Die plain;
    const char *name;

    if (!type_make_plain(type, &plain))
        return false;
    if (!dwarf_hasattr(&plain, DW_AT_declaration))
        return true;
    name = dwarf_diename(&plain);
    found = name ? find_definition(index, dwarf, name) : NULL;
    if (found)
        *type = found->die;
    return found != NULL;
}

/* Returns the part of a qualified name behind its last "::" outside of template arguments. */
static const char *last_component(const char *name)
{
    const char *last = name;
    int depth = 0;

    for (const char *at = name; *at; at++) {
        depth += *at == '<' || *at == '(';
        depth -= *at == '>' || *at == ')';
        if (!depth && at[0] == ':' && at[1] == ':')
            last = at + 2;
    }
    return last;
}

bool type_index_find(struct type_index *index, Dwarf *dwarf, const char *name, Dwarf_Die *type)
{
    const struct type_definition *found = find_definition(index, dwarf, last_component(name));
    char whole[TYPE_NAME_SIZE];

    if (!found)
        return false;
    *type = found->die;
    type_write_name(type, whole);
    return strcmp(whole, name) == 0;
}

bool type_index_begins(struct type_index *index, Dwarf *dwarf, Dwarf_Die *type, uint64_t size)
{
    build_index(index, dwarf);
    for (size_t i = 0; i < index->count; i++) {
        struct type_definition *found = &index->found[i];

        if (found->size == size && !type_is_same(&found->die, type) &&
            type_begins_with(&found->die, type))
            return true;
    }
    return false;
}

/* ---- Types by number ------------------------------------------------------------------------- */

/* Finds the split unit (debug information in a .dwo file) whose skeleton is at an offset; if `of`
 * is not NULL, the split unit that contains this DWARF entry, and the offset of its skeleton. */
static bool find_split(Dwarf *dwarf, uint64_t skeleton, const Dwarf_Die *of, Dwarf_Die *split,
                       uint64_t *offset)
{
    Dwarf_CU *cu = NULL;
    Dwarf_Die die;
    uint8_t type;

    while (dwarf_get_units(dwarf, cu, &cu, NULL, &type, &die, split) == 0) {
        *offset = dwarf_dieoffset(&die);
        if (type == DW_UT_skeleton && dwarf_tag(split) == DW_TAG_compile_unit &&
            (of ? split->cu == of->cu : *offset == skeleton))
            return true;
    }
    return false;
}

struct type_id type_id_of(Dwarf *dwarf, Dwarf_Die *type)
{
    struct type_id id = {.offset = dwarf_dieoffset(type)};
    Dwarf_Die split, same;
    uint64_t skeleton;

    if (dwarf_cu_getdwarf(type->cu) == dwarf)
        return dwarf_offdie(dwarf, id.offset, &same) && same.addr == type->addr
                   ? id
                   : (struct type_id){.offset = 0}; /* types in .debug_types have no number */
    if (!find_split(dwarf, 0, type, &split, &skeleton))
        return (struct type_id){.offset = 0};
    id.unit = skeleton + 1;
    return id;
}

bool type_id_find(Dwarf *dwarf, struct type_id id, Dwarf_Die *type)
{
    Dwarf_Die split;
    uint64_t offset;

    if (!id.offset)
        return false;
    if (!id.unit)
        return dwarf_offdie(dwarf, id.offset, type) != NULL;
    return find_split(dwarf, id.unit - 1, NULL, &split, &offset) &&
           dwarf_offdie(dwarf_cu_getdwarf(split.cu), id.offset, type) != NULL;
}
