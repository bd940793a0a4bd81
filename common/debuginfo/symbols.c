/* symbols.c - finds the symbol that covers an address, in tables sorted by address. */
#include "common/debuginfo/symbols.h"

#include <stdlib.h>
#include <string.h>

/* The number of an address range encodes binding and index of its symbol. Of ranges with the
 * same start the highest number wins: the symbol with the widest binding, then the first in the
 * symbol table. */
#define INDEX_BITS 29
#define INDEX_MAX ((1u << INDEX_BITS) - 1)

static uint32_t symbol_number(int index, unsigned char info)
{
    uint32_t rank = GELF_ST_BIND(info) == STB_LOCAL ? 0 : GELF_ST_BIND(info) == STB_WEAK ? 1 : 2;

    return rank << INDEX_BITS | (INDEX_MAX - (uint32_t)index);
}

static int symbol_index(uint32_t number)
{
    return (int)(INDEX_MAX - (number & INDEX_MAX));
}

static bool names_code(const GElf_Sym *symbol, GElf_Word section)
{
    unsigned char type = GELF_ST_TYPE(symbol->st_info);

    return section != SHN_UNDEF && section != SHN_ABS &&
           (type == STT_FUNC || type == STT_NOTYPE || type == STT_GNU_IFUNC);
}

static bool is_object(const GElf_Sym *symbol, GElf_Word section, unsigned char type)
{
    return GELF_ST_TYPE(symbol->st_info) == type && symbol->st_size && section != SHN_UNDEF &&
           section != SHN_ABS;
}

/* Finds the end of the section of a symbol, as an address of the module. */
static uint64_t section_end(Elf *elf, GElf_Word section, GElf_Addr bias)
{
    Elf_Scn *found = section < SHN_LORESERVE ? elf_getscn(elf, section) : NULL;
    GElf_Shdr header;

    return found && gelf_getshdr(found, &header) ? header.sh_addr + header.sh_size + bias
                                                 : UINT64_MAX;
}

/* Gives each symbol without a size a range that ends where the next symbol begins, and at the
 * latest with its section: in a stripped program that exports _init, the next symbol may come
 * after all of .text. */
static void bound_unsized(struct symbols *symbols, struct interval_map *starts)
{
    interval_map_sort(starts);
    for (size_t i = 0; i < starts->count; i++) {
        size_t next = i + 1;
        uint64_t end;

        if (starts->span[i].value == INTERVAL_NONE)
            continue;
        while (next < starts->count && starts->span[next].low == starts->span[i].low)
            next++;
        end = next < starts->count ? starts->span[next].low : starts->span[i].low + 1;
        interval_map_add(&symbols->unsized, starts->span[i].low,
                         end < starts->span[i].high ? end : starts->span[i].high,
                         starts->span[i].value);
    }
    interval_map_sort(&symbols->unsized);
}

static void sort_table(struct symbols *symbols)
{
    struct interval_map starts = {0}; /* from the start of each symbol to the end of its section;
                                       * the value of a symbol with a size is INTERVAL_NONE */
    int count = dwfl_module_getsymtab(symbols->module);

    symbols->sorted = true;
    for (int i = 1; i < count && (uint32_t)i < INDEX_MAX; i++) {
        GElf_Sym symbol;
        GElf_Addr address, bias;
        GElf_Word section;
        Elf *elf;
        const char *name =
            dwfl_module_getsym_info(symbols->module, i, &symbol, &address, &section, &elf, &bias);

        if (!name || !*name || *name == '$')
            continue;
        if (is_object(&symbol, section, STT_OBJECT))
            interval_map_add(&symbols->data, address, address + symbol.st_size,
                             symbol_number(i, symbol.st_info));
        /* The st_value of a TLS symbol is an offset in the TLS segment. */
        else if (is_object(&symbol, section, STT_TLS))
            interval_map_add(&symbols->tls, symbol.st_value, symbol.st_value + symbol.st_size,
                             symbol_number(i, symbol.st_info));
        if (!names_code(&symbol, section))
            continue;
        if (symbol.st_size)
            interval_map_add(&symbols->sized, address, address + symbol.st_size,
                             symbol_number(i, symbol.st_info));
        interval_map_add(&starts, address, section_end(elf, section, bias),
                         symbol.st_size ? INTERVAL_NONE : symbol_number(i, symbol.st_info));
    }
    interval_map_sort(&symbols->sized);
    interval_map_sort(&symbols->data);
    interval_map_sort(&symbols->tls);
    bound_unsized(symbols, &starts);
    interval_map_end(&starts);
}

static bool has_unwind_information(Dwarf_CFI *cfi, uint64_t address)
{
    Dwarf_Frame *frame = NULL;
    bool has = dwarf_cfi_addrframe(cfi, address, &frame) == 0;

    free(frame);
    return has;
}

/* Says whether an address belongs to another function than the symbol without a size before it:
 * to one with unwind information, while the symbol has none. In a stripped library, functions
 * without a name follow the exported ones of assembly. */
static bool is_beyond(Dwfl_Module *module, uint32_t number, uint64_t address)
{
    GElf_Sym symbol;
    GElf_Addr start, bias;
    Dwarf_CFI *cfi = dwfl_module_eh_cfi(module, &bias);

    return cfi &&
           dwfl_module_getsym_info(module, symbol_index(number), &symbol, &start, NULL, NULL,
                                   NULL) &&
           has_unwind_information(cfi, address - bias) &&
           !has_unwind_information(cfi, start - bias);
}

const char *symbols_find(struct symbols *symbols, uint64_t address)
{
    GElf_Sym symbol;
    size_t cursor;
    uint32_t number;

    if (!symbols->sorted)
        sort_table(symbols);
    cursor = symbols->sized.count;
    number = interval_map_next(&symbols->sized, address, &cursor);
    if (number == INTERVAL_NONE) {
        cursor = symbols->unsized.count;
        number = interval_map_next(&symbols->unsized, address, &cursor);
        if (number != INTERVAL_NONE && is_beyond(symbols->module, number, address))
            number = INTERVAL_NONE;
    }
    return number == INTERVAL_NONE
               ? NULL
               : dwfl_module_getsym(symbols->module, symbol_index(number), &symbol, NULL);
}

bool symbols_find_data(struct symbols *symbols, uint64_t address, bool tls, struct symbol *found)
{
    const struct interval_map *spans = tls ? &symbols->tls : &symbols->data;
    GElf_Sym symbol;
    GElf_Addr start;
    size_t cursor;
    uint32_t number;

    if (!symbols->sorted)
        sort_table(symbols);
    cursor = spans->count;
    number = interval_map_next(spans, address, &cursor);
    if (number == INTERVAL_NONE)
        return false;
    found->name = dwfl_module_getsym_info(symbols->module, symbol_index(number), &symbol, &start,
                                          NULL, NULL, NULL);
    found->start = tls ? symbol.st_value : start;
    found->local = GELF_ST_BIND(symbol.st_info) == STB_LOCAL;
    return found->name != NULL;
}

void symbols_end(struct symbols *symbols)
{
    interval_map_end(&symbols->data);
    interval_map_end(&symbols->tls);
    interval_map_end(&symbols->sized);
    interval_map_end(&symbols->unsized);
    memset(symbols, 0, sizeof(*symbols));
}
