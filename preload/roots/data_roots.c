#include "preload/roots/data_roots.h"
#include "preload/elf/symtab.h"

#define CUTS_MOST (PIECES_MOST / 4)

/* The first block at or behind an address. */
static uint32_t first_from(const struct reach *reach, uintptr_t address)
{
    uint32_t low = 0, high = reach_count(reach);
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (reach_address(reach, middle) < address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static uintptr_t end_of(const struct reach *reach, uint32_t node)
{
    return reach_address(reach, node) + reach_size(reach, node);
}

/* ---- Which variables ------------------------------------------------------------------------ */

struct search {
    const struct reach *reach;
    uintptr_t bias;
    struct variables *out;
};

static void visit(const struct symtab_symbol *variable, void *context)
{
    const struct search *search = context;
    struct variables *out = search->out;
    uintptr_t start = search->bias + variable->value, end = start + variable->size;
    uint32_t first = first_from(search->reach, start), behind = first_from(search->reach, end);
    if (first == behind || out->count == VARIABLES_MOST || end_of(search->reach, behind - 1) > end)
        return;
    out->between[out->count].start = reach_address(search->reach, first);
    out->between[out->count++].end = end_of(search->reach, behind - 1);
}

void variables_find(const struct reach *reach, uintptr_t bias, struct variables *out)
{
    struct search search = {reach, bias, out};
    symtab_each_variable("/proc/self/exe", visit, &search);
}

/* ---- What is a root ------------------------------------------------------------------------- */

static uintptr_t end_of_cut(const struct variables *variables, const struct reach *reach,
                            uint32_t node)
{
    uintptr_t address = reach_address(reach, node);
    for (uint32_t i = 0; i < variables->count; i++)
        if (variables->between[i].start == address)
            return variables->between[i].end;
    return end_of(reach, node);
}

void variables_add(const struct variables *variables, const struct reach *reach,
                   struct pieces *pieces, uintptr_t start, uintptr_t end, struct piece model)
{
    uint32_t node = first_from(reach, start);
    while (node < reach_count(reach) && reach_address(reach, node) < end &&
           pieces->count < CUTS_MOST) {
        pieces_add(pieces, start, reach_address(reach, node), model);
        start = end_of_cut(variables, reach, node);
        node = first_from(reach, start);
    }
    pieces_add(pieces, start, end, model);
}
