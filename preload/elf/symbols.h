/* symbols.h - the symbols that a loaded object exports and imports.
 *
 * Read from the object's dynamic section in memory, as the loader reads it. The object must stay
 * loaded meanwhile: inside dl_iterate_phdr, or kept by other means. Allocates nothing, takes no
 * lock.
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
    const uint16_t *version;         /* of each symbol; may be NULL */
    struct symbols_table {
        const elf_relocation *first;
        size_t count;
    } table[2]; /* relocations: all, and DT_JMPREL for the procedure linkage table */
};

/* Does an address lie in one of its segments? */
bool symbols_object_contains(const struct dl_phdr_info *object, uintptr_t address);

/* Finds the dynamic symbols of an object. False: it has no dynamic section, or one without
 * symbols. */
bool symbols_read(const struct dl_phdr_info *object, struct symbols *out);
bool symbols_read_at(uintptr_t bias, const ElfW(Dyn) * dynamic, struct symbols *out);

/* The address of an exported symbol, 0: there is none of that name. Like the functions above it
 * calls nothing of libc. */
uintptr_t symbols_find_export(const struct symbols *symbols, const char *name);
/* The code of an exported function. False: there is none of that name, or its size is unknown. */
bool symbols_find_function(const struct symbols *symbols, const char *name, uintptr_t *start,
                           uintptr_t *end);

/* The address of the first export of that name, in the loader's order of objects, leaving out the
 * object that contains the address "but". */
uintptr_t symbols_find_except(const char *name, uintptr_t but);

/* Does an object export the name that was loaded before the object that contains the address? */
bool symbols_is_exported_before(const char *name, uintptr_t address);

/* Compares two names without libc, which may not be callable yet (process_is_sanitized). */
bool symbols_is_same(const char *one, const char *other);

/* Is every library that it needs loaded, judged by names? Inside dl_iterate_phdr. */
bool symbols_libraries_loaded(const struct symbols *symbols);

/* Visits each relocation that names a symbol, until visit returns false. False: it did. */
bool symbols_each_relocation(const struct symbols *symbols,
                             bool (*visit)(const struct symbols *symbols,
                                           const elf_relocation *relocation, void *context),
                             void *context);

/* The symbol of a relocation. */
static inline ElfW(Sym) *
    symbols_of_relocation(const struct symbols *symbols, const elf_relocation *relocation)
{
    return &symbols->symbol[ELFW(R_SYM)(relocation->r_info)];
}

/* Is it looked up by name in other objects? */
bool symbols_is_import(const ElfW(Sym) * symbol);

/* How the pages at an address are mapped: PROT_READ and so on. bound: the loader has finished with
 * the object, and has made its RELRO pages read-only. */
int symbols_page_protection(const struct dl_phdr_info *object, uintptr_t address, bool bound);

/* Sets the protection of an object's pages: makes them writable, or restores what it was. */
bool symbols_protect_pages(uintptr_t address, size_t size, int access);

#endif
