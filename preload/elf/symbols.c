#include "preload/elf/symbols.h"
#include "preload/base/strbuf.h"
#include "preload/base/sys.h"

#include <sys/mman.h>

/* Bit in the version number of a symbol: another version of the symbol is the default. */
#define OLD_VERSION 0x8000

static const ElfW(Dyn) * find_dynamic(const struct dl_phdr_info *object)
{
    for (unsigned i = 0; i < object->dlpi_phnum; i++)
        if (object->dlpi_phdr[i].p_type == PT_DYNAMIC)
            return (const void *)(object->dlpi_addr + object->dlpi_phdr[i].p_vaddr);
    return NULL;
}

/* Returns an entry of the dynamic section as an address. The loader has added the load address to
 * the entries only where the dynamic section is writable. */
static void *relocated(uintptr_t bias, uintptr_t value)
{
    return (void *)(value < bias ? bias + value : value);
}

bool symbols_object_contains(const struct dl_phdr_info *object, uintptr_t address)
{
    for (unsigned i = 0; i < object->dlpi_phnum; i++)
        if (object->dlpi_phdr[i].p_type == PT_LOAD &&
            address - object->dlpi_addr - object->dlpi_phdr[i].p_vaddr <
                object->dlpi_phdr[i].p_memsz)
            return true;
    return false;
}

/* Leaves out the first relocations of a table, which name no symbol. */
static void skip_unnamed(struct symbols_table *table, size_t count)
{
    if (count > table->count)
        return;
    table->first += count;
    table->count -= count;
}

bool symbols_read_at(uintptr_t bias, const ElfW(Dyn) * dynamic, struct symbols *out)
{
    bool same_form = true;
    size_t unnamed = 0;
    *out = (struct symbols){.bias = bias, .dynamic = dynamic};
    for (const ElfW(Dyn) *entry = out->dynamic; entry && entry->d_tag != DT_NULL; entry++) {
        uintptr_t value = entry->d_un.d_val;
        switch (entry->d_tag) {
        case DT_SYMTAB:
            out->symbol = relocated(bias, value);
            break;
        case DT_STRTAB:
            out->names = relocated(bias, value);
            break;
        case DT_GNU_HASH:
            out->gnu_hash = relocated(bias, value);
            break;
        case DT_HASH:
            out->hash = relocated(bias, value);
            break;
        case DT_VERSYM:
            out->version = relocated(bias, value);
            break;
        case ELF_RELOCATIONS:
            out->table[0].first = relocated(bias, value);
            break;
        case ELF_RELOCATIONS_SIZE:
            out->table[0].count = value / sizeof(elf_relocation);
            break;
        case ELF_RELOCATIONS_UNNAMED:
            unnamed = value;
            break;
        case DT_JMPREL:
            out->table[1].first = relocated(bias, value);
            break;
        case DT_PLTRELSZ:
            out->table[1].count = value / sizeof(elf_relocation);
            break;
        case DT_PLTREL:
            same_form = value == ELF_RELOCATIONS;
            break;
        }
    }
    skip_unnamed(&out->table[0], unnamed);
    return out->symbol && out->names && same_form;
}

bool symbols_read(const struct dl_phdr_info *object, struct symbols *out)
{
    return symbols_read_at(object->dlpi_addr, find_dynamic(object), out);
}

/* ---- Libraries that an object needs ---------------------------------------------------------- */

/* Says whether an object is the library with that name, judged by its DT_SONAME or its file name. */
static int is_library_called(struct dl_phdr_info *object, size_t size UNUSED, void *name)
{
    struct symbols symbols;
    if (object->dlpi_name && strcmp(path_file_name(object->dlpi_name), path_file_name(name)) == 0)
        return 1;
    if (!symbols_read(object, &symbols))
        return 0;
    for (const ElfW(Dyn) *entry = symbols.dynamic; entry->d_tag != DT_NULL; entry++)
        if (entry->d_tag == DT_SONAME && strcmp(symbols.names + entry->d_un.d_val, name) == 0)
            return 1;
    return 0;
}

bool symbols_libraries_loaded(const struct symbols *symbols)
{
    for (const ElfW(Dyn) *entry = symbols->dynamic; entry->d_tag != DT_NULL; entry++)
        if (entry->d_tag == DT_NEEDED &&
            !dl_iterate_phdr(is_library_called, (void *)(symbols->names + entry->d_un.d_val)))
            return false;
    return true;
}

/* ---- Exported symbols ------------------------------------------------------------------------ */

bool symbols_is_same(const char *one, const char *other)
{
    while (*one && *one == *other) {
        one++;
        other++;
    }
    return *one == *other;
}

/* Says whether symbol number i is exported under that name. If the object exports several versions
 * of the name, only the default version counts. */
static bool is_export(const struct symbols *symbols, uint32_t i, const char *name)
{
    const ElfW(Sym) *symbol = &symbols->symbol[i];
    return symbol->st_shndx != SHN_UNDEF && ELFW(ST_BIND)(symbol->st_info) != STB_LOCAL &&
           !(symbols->version && symbols->version[i] & OLD_VERSION) &&
           symbols_is_same(symbols->names + symbol->st_name, name);
}

/* Finds an exported symbol by the GNU hash table: a Bloom filter, then buckets, then the hashes of
 * the symbols. The lowest bit of a hash says that it is the last of its bucket. */
static const ElfW(Sym) * find_by_gnu_hash(const struct symbols *symbols, const char *name)
{
    const uint32_t *head = symbols->gnu_hash;
    uint32_t buckets = head[0], first = head[1], words = head[2], shift = head[3], hash = 5381;
    const unsigned bits = 8 * WORD;
    const uintptr_t *filter = (const uintptr_t *)(head + 4);
    const uint32_t *bucket = (const uint32_t *)(filter + words), *hashes = bucket + buckets;
    for (const char *at = name; *at; at++)
        hash = hash * 33 + (uint8_t)*at;
    uintptr_t word = filter[hash / bits % words];
    if (!(word >> hash % bits & word >> (hash >> shift) % bits & 1) || !buckets)
        return NULL;
    for (uint32_t i = bucket[hash % buckets]; i >= first; i++) {
        if ((hashes[i - first] ^ hash) < 2 && is_export(symbols, i, name))
            return &symbols->symbol[i];
        if (hashes[i - first] & 1)
            break;
    }
    return NULL;
}

static const ElfW(Sym) * find_linearly(const struct symbols *symbols, const char *name)
{
    for (uint32_t i = 1; i < symbols->hash[1]; i++)
        if (is_export(symbols, i, name))
            return &symbols->symbol[i];
    return NULL;
}

static const ElfW(Sym) * find_export(const struct symbols *symbols, const char *name)
{
    return symbols->gnu_hash ? find_by_gnu_hash(symbols, name)
           : symbols->hash   ? find_linearly(symbols, name)
                             : NULL;
}

uintptr_t symbols_find_export(const struct symbols *symbols, const char *name)
{
    const ElfW(Sym) *symbol = find_export(symbols, name);
    /* The address of an indirect function (STT_GNU_IFUNC) is known only after calling its resolver,
     * so it is not returned. */
    return symbol && ELFW(ST_TYPE)(symbol->st_info) != STT_GNU_IFUNC
               ? symbols->bias + symbol->st_value
               : 0;
}

bool symbols_find_function(const struct symbols *symbols, const char *name, uintptr_t *start,
                           uintptr_t *end)
{
    const ElfW(Sym) *symbol = find_export(symbols, name);
    if (!symbol || ELFW(ST_TYPE)(symbol->st_info) != STT_FUNC)
        return false;
    *start = symbols->bias + symbol->st_value;
    *end = *start + symbol->st_size;
    return *end > *start;
}

bool symbols_each_name(const struct symbols *symbols,
                       void (*visit)(const char *name, void *context), void *context)
{
    const uint32_t *head = symbols->gnu_hash;
    if (!head)
        return false;
    uint32_t buckets = head[0], first = head[1];
    const uint32_t *bucket = (const uint32_t *)((const uintptr_t *)(head + 4) + head[2]);
    const uint32_t *hashes = bucket + buckets;
    for (uint32_t b = 0; b < buckets; b++)
        for (uint32_t i = bucket[b]; i >= first; i++) {
            visit(symbols->names + symbols->symbol[i].st_name, context);
            if (hashes[i - first] & 1)
                break;
        }
    return true;
}

struct search {
    const char *name;
    uintptr_t but, found;
    bool before;
};

static int search_object(struct dl_phdr_info *object, size_t size UNUSED, void *context)
{
    struct search *search = context;
    struct symbols symbols;
    if (symbols_object_contains(object, search->but))
        return search->before;
    if (!symbols_read(object, &symbols))
        return 0;
    search->found = symbols_find_export(&symbols, search->name);
    return search->found != 0;
}

uintptr_t symbols_find_except(const char *name, uintptr_t but)
{
    struct search search = {.name = name, .but = but};
    dl_iterate_phdr(search_object, &search);
    return search.found;
}

bool symbols_is_exported_before(const char *name, uintptr_t address)
{
    struct search search = {.name = name, .but = address, .before = true};
    dl_iterate_phdr(search_object, &search);
    return search.found;
}

/* ---- Imported symbols ------------------------------------------------------------------------ */

/* How many relocations ahead their symbols are fetched into the cache; the names are fetched half as
 * far ahead. Each is somewhere else in memory, so that waiting for them is most of the work. */
#define AHEAD 16

/* Call it only while more than AHEAD relocations of the table are left. (It is inline, because GCC
 * deletes calls of a function that only prefetches.) */
static ALWAYS_INLINE void fetch_ahead(const struct symbols *symbols,
                                      const elf_relocation *relocation)
{
    const ElfW(Sym) *symbol = symbols_of_relocation(symbols, relocation + AHEAD / 2);
    __builtin_prefetch(symbols_of_relocation(symbols, relocation + AHEAD));
    __builtin_prefetch(symbols->names + symbol->st_name);
}

bool symbols_each_relocation(const struct symbols *symbols,
                             bool (*visit)(const struct symbols *symbols,
                                           const elf_relocation *relocation, void *context),
                             void *context)
{
    for (unsigned t = 0; t < ARRAY_LENGTH(symbols->table); t++)
        for (size_t i = 0; symbols->table[t].first && i < symbols->table[t].count; i++) {
            const elf_relocation *relocation = &symbols->table[t].first[i];
            if (i + AHEAD < symbols->table[t].count)
                fetch_ahead(symbols, relocation);
            if (ELFW(R_SYM)(relocation->r_info) && !visit(symbols, relocation, context))
                return false;
        }
    return true;
}

bool symbols_is_import(const ElfW(Sym) * symbol)
{
    return symbol->st_shndx == SHN_UNDEF && ELFW(ST_BIND)(symbol->st_info) != STB_LOCAL &&
           ELFW(ST_VISIBILITY)(symbol->st_other) == STV_DEFAULT;
}

/* ---- Page protection ------------------------------------------------------------------------ */

/* Returns the whole pages of RELRO, relative to the object. The loader makes these read-only when it
 * has finished with the object. */
static struct symbols_pages relro_pages(const ElfW(Phdr) * part)
{
    uintptr_t page = sys_page_size(), start = part->p_vaddr / page * page;
    return (struct symbols_pages){start, (part->p_vaddr + part->p_memsz) / page * page - start};
}

static bool is_within(struct symbols_pages pages, uintptr_t at)
{
    return at - pages.start < pages.size;
}

int symbols_page_protection(const struct dl_phdr_info *object, uintptr_t address, bool bound)
{
    uintptr_t at = address - object->dlpi_addr;
    int access = 0;
    for (unsigned i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[i];
        if (part->p_type == PT_LOAD && at - part->p_vaddr < part->p_memsz)
            access |= (part->p_flags & PF_R ? PROT_READ : 0) |
                      (part->p_flags & PF_W ? PROT_WRITE : 0) |
                      (part->p_flags & PF_X ? PROT_EXEC : 0);
        if (part->p_type == PT_GNU_RELRO && bound && is_within(relro_pages(part), at))
            return PROT_READ;
    }
    return access;
}

struct symbols_pages symbols_protected_pages(const struct dl_phdr_info *object, uintptr_t address)
{
    uintptr_t page = sys_page_size(), at = address - object->dlpi_addr;
    struct symbols_pages pages = {at / page * page, page};
    for (unsigned i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[i];
        if (part->p_type == PT_GNU_RELRO && is_within(relro_pages(part), at))
            pages = relro_pages(part);
    }
    pages.start += object->dlpi_addr;
    return pages;
}

bool symbols_protect_pages(uintptr_t address, size_t size, int access)
{
    uintptr_t page = sys_page_size(), start = address / page * page;
    return sys_protect((void *)start, round_up(address + size - start, page), access) == 0;
}
