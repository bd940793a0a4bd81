/* symbols.h - the names that a loaded object exports, and those that it asks others for.
 *
 * Read from the object's dynamic section in memory, as the loader does. The object must stay while
 * it is read: inside of dl_iterate_phdr, or held otherwise. Nothing is allocated, no lock is taken.
 */
#ifndef PRELOAD_ELF_SYMBOLS_H
#define PRELOAD_ELF_SYMBOLS_H

#include "preload/base/base.h"

#include <elf.h>
#include <link.h>

struct symbols {
    uintptr_t bias;
    const ElfW(Dyn) * dynamic;
    ElfW(Sym) * symbol;
    const char *names;
    const uint32_t *gnu_hash, *hash; /* NULL: the object has no such table */
    const uint16_t *version;         /* of each symbol; likewise */
    struct symbols_table {
        const ElfW(Rela) * first;
        size_t count;
    } table[2]; /* of relocations: the object's own, and those of its procedure linkage table */
};

/* Does an address lie in one of its segments? */
bool symbols_is_around(const struct dl_phdr_info *object, uintptr_t address);

/* False: it has no dynamic section, or one without symbols. */
bool symbols_read(const struct dl_phdr_info *object, struct symbols *out);
bool symbols_read_at(uintptr_t bias, const ElfW(Dyn) * dynamic, struct symbols *out);

/* Address of an exported symbol, 0: there is none of that name. Calls nothing of libc's, as those
 * above. */
uintptr_t symbols_exported(const struct symbols *symbols, const char *name);

/* The same of the first object that has one but for the object around an address. */
uintptr_t symbols_find(const char *name, uintptr_t but);

/* Does an object have one that was loaded before the object around an address? */
bool symbols_before(const char *name, uintptr_t address);

/* Two names; not by libc, which who asks may not call yet (sanitized.h). */
bool symbols_is_same(const char *one, const char *other);

/* Is every library that it needs loaded, as far as names tell? Inside of dl_iterate_phdr. */
bool symbols_has_libraries(const struct symbols *symbols);

/* Visits each relocation that names a symbol, until one says no. False: one did. */
bool symbols_each(const struct symbols *symbols,
                  bool (*visit)(const struct symbols *symbols, const ElfW(Rela) * relocation,
                                void *context),
                  void *context);

/* The symbol of a relocation. */
static inline ElfW(Sym) * symbols_of(const struct symbols *symbols, const ElfW(Rela) * relocation)
{
    return &symbols->symbol[ELF64_R_SYM(relocation->r_info)];
}

/* Is it looked up by name in other objects? */
bool symbols_is_import(const ElfW(Sym) * symbol);

/* How the pages around an address are mapped: PROT_READ and so on. bound: the loader is done with
 * the object, and has taken back what it had to write. */
int symbols_access(const struct dl_phdr_info *object, uintptr_t address, bool bound);

/* Makes pages of an object writable, or gives them back as they were. */
bool symbols_open(uintptr_t address, size_t size, int access);

#endif
