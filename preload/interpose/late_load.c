#include "preload/interpose/got_patch.h"
#include "preload/base/base.h"
#include "preload/base/strbuf.h"
#include "preload/elf/symbols.h"
#include "preload/interpose/modules.h"
#include "preload/interpose/operator_override.h"
#include "preload/interpose/real_functions.h"

#include <sys/mman.h>

static const struct symbols *own;
/* The program itself defines an operator new or delete, so no operator is redirected. */
static bool has_operators;

/* ---- Which slots are redirected -------------------------------------------------------------- */

static bool is_operator(const char *name)
{
    return starts_with(name, "_Zn") || starts_with(name, "_Zd");
}

/* Says whether an address is in the program, which is the first object of the loader's list. */
static bool is_in_program(uintptr_t address)
{
    return _r_debug.r_map && modules_same_object((uintptr_t)_r_debug.r_map->l_ld, address);
}

/* Returns the first definition of a name outside of libleak. */
static uintptr_t find_first(const char *name)
{
    return symbols_find_except(name, (uintptr_t)late_load_patch);
}

/* The first characters of all names that libleak exports, as a set of hashes: most names of other
 * objects begin otherwise, and need not be looked up. */
#define BEGINNING 4
#define BEGINNINGS 4096
static uint8_t beginnings[BEGINNINGS / 8];

static uint32_t hash_beginning(const char *name)
{
    uint32_t word = 0;
    for (unsigned i = 0; i < BEGINNING && name[i]; i++)
        word = word << 8 | (uint8_t)name[i];
    return word * 0x9e3779b1u >> 20;
}

static void note_beginning(const char *name, void *context UNUSED)
{
    uint32_t hash = hash_beginning(name);
    beginnings[hash / 8] |= 1u << hash % 8;
}

static uintptr_t find_hook(const char *name)
{
    uint32_t hash = hash_beginning(name);
    return beginnings[hash / 8] >> hash % 8 & 1 ? symbols_find_export(own, name) : 0;
}

/* Results of find_first while the objects are redirected: most objects have slots for the same few
 * names, and each search looks at all objects. */
#define FOUND_MAX 256
struct redirection {
    struct got_writer writer;
    struct found_first {
        const char *name;
        uintptr_t first;
    } * found;
};

/* Returns what find_first returns for the name of a hook, and keeps it for the next call. */
static uintptr_t find_first_once(struct found_first *found, const char *name, uintptr_t hook)
{
    found += hook / 16 % FOUND_MAX;
    if (!found->name || !symbols_is_same(found->name, name))
        *found = (struct found_first){name, find_first(name)};
    return found->first;
}

static void find_operators(void)
{
    static const char *const names[] = {OPERATOR_BASIC_FORMS};
    for (size_t i = 0; i < ARRAY_LENGTH(names); i++) {
        uintptr_t first = find_first(names[i]);
        has_operators |= first && is_in_program(first);
    }
}

/* Says whether a slot may be redirected: its value is the first definition of the name in the
 * loader's order, or it is not bound yet. first: what find_first returns. */
static bool may_redirect(const struct dl_phdr_info *object, const ElfW(Sym) * symbol,
                         const char *name, uintptr_t value, uintptr_t first)
{
    /* The name has no definition outside of libleak: the import is a weak one of a function of
     * libleak.h, and its slot is 0 until libleak is loaded. */
    if (!first)
        return !value;
    if (is_in_program(first) || (has_operators && is_operator(name)))
        return false;
    bool unbound = symbol->st_shndx == SHN_UNDEF && symbols_object_contains(object, value);
    return unbound || modules_same_object(first, value);
}

static bool is_slot(const elf_relocation *relocation)
{
    unsigned type = ELFW(R_TYPE)(relocation->r_info);
    return type == ARCH_SLOT_DATA || type == ARCH_SLOT_CALL ||
           (type == ARCH_SLOT_WORD && !ELF_HAS_ADDEND(relocation));
}

/* ---- Redirecting ----------------------------------------------------------------------------- */

static bool redirect_late_slot(const struct symbols *symbols, const elf_relocation *relocation,
                               void *context)
{
    struct redirection *redirection = context;
    struct got_writer *writer = &redirection->writer;
    const ElfW(Sym) *symbol = symbols_of_relocation(symbols, relocation);
    const char *name = symbols->names + symbol->st_name;
    uintptr_t *slot = (uintptr_t *)(symbols->bias + relocation->r_offset);
    if (!is_slot(relocation) || ELFW(ST_BIND)(symbol->st_info) == STB_LOCAL ||
        ELFW(ST_VISIBILITY)(symbol->st_other) != STV_DEFAULT)
        return true;
    uintptr_t hook = find_hook(name);
    if (hook && load_relaxed(slot) != hook &&
        may_redirect(writer->object, symbol, name, load_relaxed(slot),
                     find_first_once(redirection->found, name, hook)))
        got_writer_write(writer, slot, hook);
    return true;
}

/* Sets the loader's own pointers to malloc, calloc, realloc and free, which the loader has made
 * read-only: to the hooks, or (to_hooks false) back to the functions behind the hooks. */
static void exchange_loader_words(struct got_writer *writer, bool to_hooks)
{
    const struct dl_phdr_info *object = writer->object;
    const struct {
        uintptr_t hook, function;
    } words[] = {{symbols_find_export(own, "malloc"), (uintptr_t)real.malloc},
                 {symbols_find_export(own, "calloc"), (uintptr_t)real.calloc},
                 {symbols_find_export(own, "realloc"), (uintptr_t)real.realloc},
                 {symbols_find_export(own, "free"), (uintptr_t)real.free}};
    for (unsigned i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[i];
        uintptr_t *at = (uintptr_t *)(object->dlpi_addr + part->p_vaddr);
        if (part->p_type != PT_LOAD || !(part->p_flags & PF_W))
            continue;
        for (size_t k = 0; k < part->p_memsz / sizeof *at; k++)
            for (size_t w = 0; w < ARRAY_LENGTH(words); w++)
                if (at[k] == (to_hooks ? words[w].function : words[w].hook))
                    got_writer_write(writer, &at[k], to_hooks ? words[w].hook : words[w].function);
    }
}

/* ---- Undoing the redirection ----------------------------------------------------------------- */

static bool is_local_import(const ElfW(Sym) * symbol)
{
    return ELFW(ST_BIND)(symbol->st_info) == STB_LOCAL && symbol->st_other == STV_HIDDEN;
}

/* Restores an import that was made local before its object was bound (got_patch.c). It becomes a
 * weak symbol: the loader looks it up like any other, and it may be missing, as the functions of
 * libleak.h are without libleak. */
static void restore_import(const struct dl_phdr_info *object, const struct symbols *symbols,
                           ElfW(Sym) * symbol, uintptr_t hook)
{
    if (!is_local_import(symbol) || symbols->bias + symbol->st_value != hook)
        return;
    int access = symbols_page_protection(object, (uintptr_t)symbol, false);
    if (!symbols_protect_pages((uintptr_t)symbol, sizeof *symbol, PROT_READ | PROT_WRITE))
        return;
    store_release(&symbol->st_info,
                  (unsigned char)ELFW(ST_INFO)(STB_WEAK, ELFW(ST_TYPE)(symbol->st_info)));
    store_release(&symbol->st_other, STV_DEFAULT);
    store_relaxed(&symbol->st_value, 0);
    symbols_protect_pages((uintptr_t)symbol, sizeof *symbol, access);
}

static bool restore_slot(const struct symbols *symbols, const elf_relocation *relocation,
                         void *context)
{
    struct got_writer *writer = context;
    ElfW(Sym) *symbol = symbols_of_relocation(symbols, relocation);
    const char *name = symbols->names + symbol->st_name;
    uintptr_t *slot = (uintptr_t *)(symbols->bias + relocation->r_offset);
    /* Most slots and symbols were never redirected; this test finds that out without comparing
     * names. */
    if (!is_slot(relocation) || !(modules_is_own(load_relaxed(slot)) || is_local_import(symbol)))
        return true;
    uintptr_t hook = symbols_find_export(own, name);
    if (!hook)
        return true;
    restore_import(writer->object, symbols, symbol, hook);
    if (load_relaxed(slot) == hook)
        got_writer_write(writer, slot, real_functions_by_name(name));
    return true;
}

static int restore_object(struct dl_phdr_info *object, size_t size UNUSED, void *context UNUSED)
{
    struct symbols symbols;
    struct got_writer writer = {.object = object};
    if (object->dlpi_addr == _r_debug.r_ldbase)
        exchange_loader_words(&writer, false);
    else if (object->dlpi_addr != own->bias && symbols_read(object, &symbols))
        symbols_each_relocation(&symbols, restore_slot, &writer);
    got_writer_end(&writer);
    return 0;
}

void late_load_restore(void)
{
    if (got_patch_own_symbols())
        dl_iterate_phdr(restore_object, NULL);
}

/* ---- Redirecting all objects, and undoing it for all objects --------------------------------- */

static int redirect_object(struct dl_phdr_info *object, size_t size UNUSED, void *found)
{
    struct symbols symbols;
    struct redirection redirection = {.writer.object = object, .found = found};
    if (object->dlpi_addr == _r_debug.r_ldbase)
        exchange_loader_words(&redirection.writer, true);
    else if (object->dlpi_addr != own->bias && symbols_read(object, &symbols))
        symbols_each_relocation(&symbols, redirect_late_slot, &redirection);
    got_writer_end(&redirection.writer);
    return 0;
}

void late_load_patch(void)
{
    own = got_patch_own_symbols();
    if (!own)
        return;
    find_operators();
    if (!symbols_each_name(own, note_beginning, NULL))
        memset(beginnings, 0xff, sizeof beginnings);
    struct found_first found[FOUND_MAX] = {{0}};
    dl_iterate_phdr(redirect_object, found);
}
