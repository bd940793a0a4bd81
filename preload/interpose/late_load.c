#include "preload/interpose/late_load.h"
#include "preload/base/base.h"
#include "preload/interpose/modules.h"
#include "preload/interpose/real_functions.h"
#include "preload/elf/symbols.h"
#include "preload/base/strbuf.h"

#include <sys/mman.h>

static struct symbols own;
static uintptr_t own_address;
static bool has_operators; /* the program itself defines some: then all of them are its business */

bool late_is(void)
{
    return real_is_behind();
}

static int find_own(struct dl_phdr_info *object, size_t size UNUSED, void *context UNUSED)
{
    return symbols_object_contains(object, own_address) && symbols_read(object, &own);
}

/* ---- Which slots ---------------------------------------------------------------------------- */

static bool is_operator(const char *name)
{
    return starts_with(name, "_Zn") || starts_with(name, "_Zd");
}

/* The first object of the list is the program. */
static bool is_programs(uintptr_t address)
{
    return _r_debug.r_map && modules_same((uintptr_t)_r_debug.r_map->l_ld, address);
}

static void look_for_operators(void)
{
    static const char *const names[] = {
        "_Znwm", "_Znam", "_ZdlPv", "_ZdaPv", "_ZnwmSt11align_val_t", "_ZdlPvSt11align_val_t"};
    for (size_t i = 0; i < ARRAY_LENGTH(names); i++) {
        uintptr_t first = symbols_find_except(names[i], own_address);
        has_operators |= first && is_programs(first);
    }
}

/* Does the slot lead where all calls by that name lead that are to come to us? */
static bool may_take(const struct dl_phdr_info *object, const ElfW(Sym) * symbol, const char *name,
                     uintptr_t value)
{
    uintptr_t first = symbols_find_except(name, own_address);
    if (!first)
        return !value; /* of libleak.h: nobody had it so far */
    if (is_programs(first) || (has_operators && is_operator(name)))
        return false;
    bool unbound = symbol->st_shndx == SHN_UNDEF && symbols_object_contains(object, value);
    return unbound || modules_same(first, value);
}

static bool is_slot(const ElfW(Rela) * relocation)
{
    unsigned type = ELF64_R_TYPE(relocation->r_info);
    return type == ARCH_SLOT_DATA || type == ARCH_SLOT_CALL ||
           (type == ARCH_SLOT_WORD && !relocation->r_addend);
}

/* ---- Leading -------------------------------------------------------------------------------- */

static void write_word(const struct dl_phdr_info *object, uintptr_t *word, uintptr_t value)
{
    int access = symbols_page_protection(object, (uintptr_t)word, true);
    if (!(access & PROT_WRITE) &&
        !symbols_protect_pages((uintptr_t)word, sizeof *word, PROT_READ | PROT_WRITE))
        return;
    store_release(word, value);
    if (!(access & PROT_WRITE))
        symbols_protect_pages((uintptr_t)word, sizeof *word, access);
}

static bool lead_slot(const struct symbols *symbols, const ElfW(Rela) * relocation, void *context)
{
    const struct dl_phdr_info *object = context;
    const ElfW(Sym) *symbol = symbols_of_relocation(symbols, relocation);
    const char *name = symbols->names + symbol->st_name;
    uintptr_t *slot = (uintptr_t *)(symbols->bias + relocation->r_offset);
    if (!is_slot(relocation) || ELF64_ST_BIND(symbol->st_info) == STB_LOCAL ||
        ELF64_ST_VISIBILITY(symbol->st_other) != STV_DEFAULT)
        return true;
    uintptr_t hook = symbols_find_export(&own, name);
    if (hook && load_relaxed(slot) != hook && may_take(object, symbol, name, load_relaxed(slot)))
        write_word(object, slot, hook);
    return true;
}

/* The loader's words for malloc and its like: written once, so they are read-only by now. */
static void lead_loader(const struct dl_phdr_info *object)
{
    const struct {
        const char *name;
        uintptr_t address;
    } words[] = {{"malloc", (uintptr_t)real.malloc},
                 {"calloc", (uintptr_t)real.calloc},
                 {"realloc", (uintptr_t)real.realloc},
                 {"free", (uintptr_t)real.free}};
    for (unsigned i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[i];
        uintptr_t *at = (uintptr_t *)(object->dlpi_addr + part->p_vaddr);
        if (part->p_type != PT_LOAD || !(part->p_flags & PF_W))
            continue;
        for (size_t k = 0; k < part->p_memsz / sizeof *at; k++)
            for (size_t w = 0; w < ARRAY_LENGTH(words); w++)
                if (at[k] == words[w].address)
                    write_word(object, &at[k], symbols_find_export(&own, words[w].name));
    }
}

static int lead(struct dl_phdr_info *object, size_t size UNUSED, void *context UNUSED)
{
    struct symbols symbols;
    if (object->dlpi_addr == _r_debug.r_ldbase)
        lead_loader(object);
    else if (object->dlpi_addr != own.bias && symbols_read(object, &symbols))
        symbols_each_relocation(&symbols, lead_slot, object);
    return 0;
}

void late_lead(const void *address)
{
    own_address = (uintptr_t)address;
    if (!dl_iterate_phdr(find_own, NULL))
        return;
    look_for_operators();
    dl_iterate_phdr(lead, NULL);
}
