/* symbols.h - the symbols that a loaded object exports and imports.
 *
 * They are read from the object's dynamic section in memory, as the loader reads it. The caller
 * ensures that the object stays loaded meanwhile, for example by calling inside dl_iterate_phdr.
 * These functions allocate nothing and take no lock.
 */
#ifndef PRELOAD_ELF_SYMBOLS_H
#define PRELOAD_ELF_SYMBOLS_H

#include "preload/elf/elf_words.h"

#include <elf.h>
#include <link.h>

struct symbols {
    uintptr_t bias;
    const ElfW(Dyn) * dynamic;
    ElfW(Sym) * symbol;
    const char *names;
    const uint32_t *gnu_hash, *hash; /* NULL: the object has no such table */
    const uint16_t *version; /* version number of each symbol; NULL: the object has no versions */
    /* Two tables of relocations: the general one, without its first ones that name no symbol, and
     * DT_JMPREL for the procedure linkage table. */
    struct symbols_table {
        const elf_relocation *first;
        size_t count;
    } table[2];
};

/* Says whether an address lies in one of the object's segments. */
bool symbols_object_contains(const struct dl_phdr_info *object, uintptr_t address);

/* Finds the dynamic symbols of an object. False: it has no dynamic section, or one without
 * symbols. */
bool symbols_read(const struct dl_phdr_info *object, struct symbols *out);
bool symbols_read_at(uintptr_t bias, const ElfW(Dyn) * dynamic, struct symbols *out);

/* Returns the address of an exported symbol, 0: the object exports no such name. Calls no function
 * of libc. */
uintptr_t symbols_find_export(const struct symbols *symbols, const char *name);
/* Finds where the code of an exported function starts and ends. False: the object exports no
 * function of that name, or its size is unknown. */
bool symbols_find_function(const struct symbols *symbols, const char *name, uintptr_t *start,
                           uintptr_t *end);

/* Visits the name of each exported symbol. False: the object has no GNU hash table, which lists
 * them. */
bool symbols_each_name(const struct symbols *symbols,
                       void (*visit)(const char *name, void *context), void *context);

/* Returns the address of the first export of that name, in the order in which the loader searches
 * objects, leaving out the object that contains the address "but". 0: there is none. */
uintptr_t symbols_find_except(const char *name, uintptr_t but);

/* Says whether an object exports the name and stands before the object that contains the address in
 * the loader's list. */
bool symbols_is_exported_before(const char *name, uintptr_t address);

/* Compares two names without libc, because its functions may not be callable yet
 * (process_is_sanitized). */
bool symbols_is_same(const char *one, const char *other);

/* Says whether every library that the object needs is loaded. Libraries are compared by name. Call
 * it inside dl_iterate_phdr. */
bool symbols_libraries_loaded(const struct symbols *symbols);

/* Visits each relocation that names a symbol, until visit returns false. False: a visit returned
 * false. */
bool symbols_each_relocation(const struct symbols *symbols,
                             bool (*visit)(const struct symbols *symbols,
                                           const elf_relocation *relocation, void *context),
                             void *context);

static inline ElfW(Sym) *
    symbols_of_relocation(const struct symbols *symbols, const elf_relocation *relocation)
{
    return &symbols->symbol[ELFW(R_SYM)(relocation->r_info)];
}

/* Says whether the loader looks the symbol up by name in other objects. */
bool symbols_is_import(const ElfW(Sym) * symbol);

/* Returns how the pages at an address are mapped: PROT_READ, PROT_WRITE and PROT_EXEC. bound: the
 * loader has finished with the object and has made its RELRO pages read-only. */
int symbols_page_protection(const struct dl_phdr_info *object, uintptr_t address, bool bound);

/* Sets the protection (access: PROT_READ ...) of pages of an object, to make them writable or to
 * restore it. False: the kernel refuses. */
/* Returns the pages around an address that the loader protects together: all of RELRO, or one page
 * elsewhere. A change of the whole splits no mapping of the kernel. */
struct symbols_pages {
    uintptr_t start;
    size_t size;
};
struct symbols_pages symbols_protected_pages(const struct dl_phdr_info *object, uintptr_t address);

bool symbols_protect_pages(uintptr_t address, size_t size, int access);

#endif
