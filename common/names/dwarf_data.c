/* dwarf_data.c - see dwarf_data.h. */
#include "common/names/dwarf_data.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/arena.h"

#define NESTING 16 /* namespaces in namespaces, blocks in blocks */

struct variable {
    Dwarf_Die die;
    const char *function;
};

static const char *linkage_name(Dwarf_Die *die)
{
    Dwarf_Attribute attribute;
    const char *name = NULL;

    if (dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute))
        name = dwarf_formstring(&attribute);
    return name ? name : dwarf_diename(die);
}

static struct dwarf_variable told(Dwarf_Die *die, const char *function)
{
    struct dwarf_variable made = {
        .name = dwarf_diename(die), .function = function, .file = dwarf_decl_file(die)};
    int line = 0;

    if (dwarf_decl_line(die, &line) == 0 && line > 0)
        made.line = (unsigned)line;
    return made;
}

/* ---- Variables that have an address --------------------------------------------------------- */

/* DW_OP_addr A, or for TLS: a constant that one more operation makes an address of. */
static bool start_of(Dwarf_Die *die, uint64_t *start)
{
    Dwarf_Attribute attribute;
    Dwarf_Op *op;
    size_t count;

    if (!dwarf_attr_integrate(die, DW_AT_location, &attribute) ||
        dwarf_getlocation(&attribute, &op, &count) != 0 || !count)
        return false;
    if (count == 1 && op->atom == DW_OP_addr) {
        *start = op->number;
        return true;
    }
    if (count == 1 && (op->atom == DW_OP_addrx || op->atom == DW_OP_GNU_addr_index)) {
        Dwarf_Attribute address;

        return dwarf_getlocation_attr(&attribute, op, &address) == 0 &&
               dwarf_formaddr(&address, start) == 0;
    }
    *start = op->number | DWARF_DATA_TLS;
    return count == 2 &&
           (op[1].atom == DW_OP_form_tls_address || op[1].atom == DW_OP_GNU_push_tls_address) &&
           (op->atom == DW_OP_const8u || op->atom == DW_OP_const4u || op->atom == DW_OP_addr);
}

static void add(struct dwarf_data *data, Dwarf_Die *die, const char *function)
{
    uint64_t start, *slot;
    bool fresh;

    if (!start_of(die, &start))
        return;
    slot = hashmap_put(&data->by_start, start, &fresh);
    if (!fresh)
        return;
    data->variables =
        array_grow(data->variables, &data->capacity, data->count + 1, sizeof(*data->variables));
    data->variables[data->count++] = (struct variable){.die = *die, .function = function};
    *slot = data->count;
}

static bool is_block(int tag)
{
    return tag == DW_TAG_lexical_block || tag == DW_TAG_inlined_subroutine ||
           tag == DW_TAG_try_block || tag == DW_TAG_catch_block;
}

/* function: inside which all of this lies, NULL = in none. */
static void add_all(struct dwarf_data *data, Dwarf_Die *parent, const char *function, bool locals,
                    int nesting)
{
    Dwarf_Die die;

    if (nesting == NESTING || dwarf_child(parent, &die) != 0)
        return;
    do {
        int tag = dwarf_tag(&die);

        if (tag == DW_TAG_variable && (function != NULL) == locals)
            add(data, &die, function);
        else if (tag == DW_TAG_namespace || tag == DW_TAG_module || tag == DW_TAG_structure_type ||
                 tag == DW_TAG_class_type)
            add_all(data, &die, function, locals, nesting + 1);
        else if (locals && tag == DW_TAG_subprogram)
            add_all(data, &die, linkage_name(&die), locals, nesting + 1);
        else if (locals && is_block(tag))
            add_all(data, &die, function, locals, nesting + 1);
    } while (dwarf_siblingof(&die, &die) == 0);
}

static void index_all(struct dwarf_data *data, bool locals)
{
    Dwarf_CU *cu = NULL;
    Dwarf_Die die, split;
    uint8_t type;

    while (dwarf_get_units(data->dwarf, cu, &cu, NULL, &type, &die, &split) == 0)
        if (type == DW_UT_skeleton && dwarf_tag(&split) == DW_TAG_compile_unit)
            add_all(data, &split, NULL, locals, 0);
        else if (type == DW_UT_compile)
            add_all(data, &die, NULL, locals, 0);
}

bool dwarf_data_find(struct dwarf_data *data, uint64_t start, bool local,
                     struct dwarf_variable *found)
{
    uint64_t at;

    if (!data->dwarf)
        return false;
    if (!data->indexed)
        index_all(data, false);
    data->indexed = true;
    at = hashmap_get(&data->by_start, start);
    if (!at && local && !data->indexed_locals) {
        index_all(data, true);
        data->indexed_locals = true;
        at = hashmap_get(&data->by_start, start);
    }
    if (at)
        *found = told(&data->variables[at - 1].die, data->variables[at - 1].function);
    return at != 0;
}

void dwarf_data_end(struct dwarf_data *data)
{
    free(data->variables);
    hashmap_end(&data->by_start);
    *data = (struct dwarf_data){0};
}

/* ---- Variables on a stack ------------------------------------------------------------------- */

struct frame_base {
    uint64_t pc, base; /* what DW_OP_fbreg counts from */
};

/* The CFA itself, or a frame pointer, which on x86-64 lies two words below it. */
static bool base_of(Dwarf_Die *function, uint64_t pc, uint64_t cfa, struct frame_base *frame)
{
    Dwarf_Attribute attribute;
    Dwarf_Op *op;
    size_t count;

    if (!dwarf_attr_integrate(function, DW_AT_frame_base, &attribute) ||
        dwarf_getlocation_addr(&attribute, pc, &op, &count, 1) != 1 || count != 1)
        return false;
    *frame = (struct frame_base){.pc = pc, .base = cfa};
    if (op->atom == DW_OP_reg6)
        frame->base -= 2 * sizeof(uint64_t);
    return op->atom == DW_OP_call_frame_cfa || op->atom == DW_OP_reg6;
}

static bool covers(Dwarf_Die *die, const struct frame_base *frame, uint64_t address,
                   uint64_t *start)
{
    Dwarf_Attribute attribute, type;
    Dwarf_Die of;
    Dwarf_Word size;
    Dwarf_Op *op;
    size_t count;

    if (!dwarf_attr_integrate(die, DW_AT_location, &attribute) ||
        dwarf_getlocation_addr(&attribute, frame->pc, &op, &count, 1) != 1 || count != 1 ||
        op->atom != DW_OP_fbreg || !dwarf_attr_integrate(die, DW_AT_type, &type) ||
        !dwarf_formref_die(&type, &of) || dwarf_aggregate_size(&of, &size) != 0)
        return false;
    *start = frame->base + op->number;
    return address >= *start && address - *start < size;
}

static bool find_local(Dwarf_Die *parent, const struct frame_base *frame, uint64_t address,
                       int nesting, Dwarf_Die *found, uint64_t *start)
{
    Dwarf_Die die;

    if (nesting == NESTING || dwarf_child(parent, &die) != 0)
        return false;
    do {
        int tag = dwarf_tag(&die);

        if ((tag == DW_TAG_variable || tag == DW_TAG_formal_parameter) &&
            covers(&die, frame, address, start)) {
            *found = die;
            return true;
        }
        if (is_block(tag) && dwarf_haspc(&die, frame->pc) > 0 &&
            find_local(&die, frame, address, nesting + 1, found, start))
            return true;
    } while (dwarf_siblingof(&die, &die) == 0);
    return false;
}

bool dwarf_data_local(Dwarf_Die *function, uint64_t pc, uint64_t cfa, uint64_t address,
                      struct dwarf_variable *found, uint64_t *start)
{
    struct frame_base frame;
    Dwarf_Die die;

    if (!base_of(function, pc, cfa, &frame) ||
        !find_local(function, &frame, address, 0, &die, start))
        return false;
    *found = told(&die, linkage_name(function));
    return true;
}
