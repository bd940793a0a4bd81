/* dwarf.c - functions and lines of one ELF file; see dwarf.h. */
#include "common/names/dwarf.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/arena.h"
#include "common/base/interval_map.h"

#define NESTING 16 /* namespaces in namespaces */

struct unit {
    Dwarf_Die die;  /* the skeleton, when split: it has the ranges and the line table */
    Dwarf_Die code; /* has the functions */
    bool indexed;
    struct spans functions; /* values index `function` */
    Dwarf_Die *function;
    size_t function_count, function_capacity;
};

struct dwarf_index {
    struct unit *units;
    size_t count, capacity;
    struct spans spans; /* values index `units` */
};

/* ---- Making the indices ------------------------------------------------------------------ */

static void add_ranges(struct spans *spans, Dwarf_Die *die, uint32_t value)
{
    Dwarf_Addr base, low, high;
    ptrdiff_t at = 0;

    while ((at = dwarf_ranges(die, at, &base, &low, &high)) > 0)
        interval_map_add(spans, low, high, value);
}

struct dwarf_index *dwarf_index_begin(Dwarf *dwarf)
{
    size_t capacity = 0;
    struct dwarf_index *index = array_grow(NULL, &capacity, 1, sizeof(*index));
    Dwarf_CU *cu = NULL;
    Dwarf_Die die, split;
    uint8_t type;

    memset(index, 0, sizeof(*index));
    while (dwarf_get_units(dwarf, cu, &cu, NULL, &type, &die, &split) == 0) {
        struct unit *unit;

        if (type != DW_UT_compile && type != DW_UT_skeleton)
            continue;
        index->units = array_grow(index->units, &index->capacity, index->count + 1, sizeof(*unit));
        unit = &index->units[index->count];
        *unit = (struct unit){.die = die, .code = die};
        if (type == DW_UT_skeleton && dwarf_tag(&split) == DW_TAG_compile_unit)
            unit->code = split;
        add_ranges(&index->spans, &unit->die, (uint32_t)index->count++);
    }
    interval_map_sort(&index->spans);
    return index;
}

void dwarf_index_end(struct dwarf_index *index)
{
    if (!index)
        return;
    for (size_t i = 0; i < index->count; i++) {
        interval_map_end(&index->units[i].functions);
        free(index->units[i].function);
    }
    interval_map_end(&index->spans);
    free(index->units);
    free(index);
}

static bool holds_functions(int tag)
{
    return tag == DW_TAG_namespace || tag == DW_TAG_module || tag == DW_TAG_class_type ||
           tag == DW_TAG_structure_type || tag == DW_TAG_union_type ||
           tag == DW_TAG_enumeration_type; /* Rust puts methods into types */
}

static void add_functions(struct unit *unit, Dwarf_Die *parent, int nesting)
{
    Dwarf_Die die;

    if (nesting == NESTING || dwarf_child(parent, &die) != 0)
        return;
    do {
        int tag = dwarf_tag(&die);

        if (tag == DW_TAG_subprogram) {
            unit->function = array_grow(unit->function, &unit->function_capacity,
                                      unit->function_count + 1, sizeof(die));
            unit->function[unit->function_count] = die;
            add_ranges(&unit->functions, &die, (uint32_t)unit->function_count++);
        } else if (holds_functions(tag)) {
            add_functions(unit, &die, nesting + 1);
        }
    } while (dwarf_siblingof(&die, &die) == 0);
}

/* ---- Asking ------------------------------------------------------------------------------ */

static Dwarf_Die *find_function(struct unit *unit, Dwarf_Addr address)
{
    size_t cursor;
    uint32_t found;

    if (!unit->indexed) {
        add_functions(unit, &unit->code, 0);
        interval_map_sort(&unit->functions);
        unit->indexed = true;
    }
    cursor = unit->functions.count;
    found = interval_map_next(&unit->functions, address, &cursor);
    return found == INTERVAL_NONE ? NULL : &unit->function[found];
}

/* The child that goes on with the address: a block, or an inlined call. */
static bool next_scope(Dwarf_Die *scope, Dwarf_Addr address)
{
    Dwarf_Die die;

    if (dwarf_child(scope, &die) != 0)
        return false;
    do {
        int tag = dwarf_tag(&die);

        if ((tag == DW_TAG_lexical_block || tag == DW_TAG_inlined_subroutine ||
             tag == DW_TAG_try_block || tag == DW_TAG_catch_block) &&
            dwarf_haspc(&die, address) > 0) {
            *scope = die;
            return true;
        }
    } while (dwarf_siblingof(&die, &die) == 0);
    return false;
}

static const char *name_of(Dwarf_Die *die)
{
    Dwarf_Attribute attribute;
    const char *name = NULL;

    if (dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute) ||
        dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &attribute))
        name = dwarf_formstring(&attribute);
    return name ? name : dwarf_diename(die);
}

static unsigned number_of(Dwarf_Die *die, unsigned what)
{
    Dwarf_Attribute attribute;
    Dwarf_Word word = 0;

    if (dwarf_formudata(dwarf_attr(die, what, &attribute), &word) != 0)
        return 0;
    return (unsigned)word;
}

/* Where the inlined function was called: a place in the function around it. */
static void place_of_call(struct unit *unit, Dwarf_Die *call, struct dwarf_frame *frame)
{
    Dwarf_Files *files;
    size_t count;

    if (dwarf_getsrcfiles(&unit->code, &files, &count) == 0)
        frame->file = dwarf_filesrc(files, number_of(call, DW_AT_call_file), NULL, NULL);
    frame->line = number_of(call, DW_AT_call_line);
    frame->column = number_of(call, DW_AT_call_column);
}

static void place_of_address(struct unit *unit, Dwarf_Addr address, struct dwarf_frame *frame)
{
    Dwarf_Line *line = dwarf_getsrc_die(&unit->die, address);
    int number = 0, column = 0;

    if (!line)
        return;
    frame->file = dwarf_linesrc(line, NULL, NULL);
    dwarf_lineno(line, &number);
    dwarf_linecol(line, &column);
    frame->line = number > 0 ? (unsigned)number : 0;
    frame->column = column > 0 ? (unsigned)column : 0;
}

size_t dwarf_index_find(struct dwarf_index *index, Dwarf_Addr address,
                        struct dwarf_frame frames[DWARF_INLINE_MAX])
{
    Dwarf_Die scopes[DWARF_INLINE_MAX];
    size_t cursor = index->spans.count, count = 0;
    uint32_t found = interval_map_next(&index->spans, address, &cursor);
    struct unit *unit;
    Dwarf_Die *function;

    if (found == INTERVAL_NONE)
        return 0;
    unit = &index->units[found];
    memset(frames, 0, DWARF_INLINE_MAX * sizeof(*frames));
    place_of_address(unit, address, &frames[0]);
    function = find_function(unit, address);
    if (!function)
        return frames[0].file ? 1 : 0;
    scopes[count++] = *function; /* outermost first */
    for (Dwarf_Die scope = *function; next_scope(&scope, address) && count < DWARF_INLINE_MAX;)
        if (dwarf_tag(&scope) == DW_TAG_inlined_subroutine)
            scopes[count++] = scope;
    for (size_t i = 0; i < count; i++) {
        Dwarf_Die *scope = &scopes[count - 1 - i];

        frames[i].name = name_of(scope);
        frames[i].inlined = i + 1 < count;
        if (frames[i].inlined)
            place_of_call(unit, scope, &frames[i + 1]);
    }
    return count;
}

bool dwarf_index_function(struct dwarf_index *index, Dwarf_Addr address, Dwarf_Die *function)
{
    size_t cursor = index->spans.count;
    uint32_t unit = interval_map_next(&index->spans, address, &cursor);
    Dwarf_Die *found = unit == INTERVAL_NONE ? NULL : find_function(&index->units[unit], address);

    if (found)
        *function = *found;
    return found != NULL;
}
