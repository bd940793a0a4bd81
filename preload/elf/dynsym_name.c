#include "preload/elf/dynsym_name.h"
#include "preload/base/sys.h"

#include <elf.h>

#define SYMBOLS_MOST (1u << 20)
#define DYNAMIC_MOST 512

struct tables {
    uintptr_t symbols, strings, gnu_hash, hash;
};

/* Some loaders leave addresses as the file has them. */
static uintptr_t place_of(const struct link_map *map, uintptr_t value)
{
    return value < map->l_addr ? map->l_addr + value : value;
}

static bool find_tables(const struct link_map *map, struct tables *out)
{
    ElfW(Dyn) entry;
    *out = (struct tables){0};
    for (unsigned i = 0; map->l_ld && i < DYNAMIC_MOST; i++) {
        if (!sys_peek((uintptr_t)&map->l_ld[i], &entry, sizeof entry) || entry.d_tag == DT_NULL)
            break;
        if (entry.d_tag == DT_SYMTAB)
            out->symbols = place_of(map, entry.d_un.d_ptr);
        else if (entry.d_tag == DT_STRTAB)
            out->strings = place_of(map, entry.d_un.d_ptr);
        else if (entry.d_tag == DT_GNU_HASH)
            out->gnu_hash = place_of(map, entry.d_un.d_ptr);
        else if (entry.d_tag == DT_HASH)
            out->hash = place_of(map, entry.d_un.d_ptr);
    }
    return out->symbols && out->strings;
}

/* The last symbol is the end of the chain of the last bucket that has one. */
static uint32_t count_by_gnu_hash(uintptr_t table)
{
    uint32_t head[4], last = 0, word; /* buckets, first symbol, words of the filter, shift */
    if (!sys_peek(table, head, sizeof head))
        return 0;
    uintptr_t buckets = table + sizeof head + (uintptr_t)head[2] * sizeof(uintptr_t);
    uintptr_t chains = buckets + (uintptr_t)head[0] * sizeof word;
    for (uint32_t at = 0, part; at < head[0]; at += part) {
        uint32_t some[256];
        part = head[0] - at < ARRAY_LENGTH(some) ? head[0] - at : ARRAY_LENGTH(some);
        if (!sys_peek(buckets + at * sizeof word, some, part * sizeof word))
            return 0;
        for (uint32_t i = 0; i < part; i++)
            last = some[i] > last ? some[i] : last;
    }
    if (last < head[1])
        return head[1];
    for (; sys_peek(chains + (uintptr_t)(last - head[1]) * sizeof word, &word, sizeof word); last++)
        if (word & 1 || last > SYMBOLS_MOST)
            break;
    return last + 1;
}

static uint32_t count_symbols(const struct tables *tables)
{
    uint32_t head[2]; /* buckets, chains */
    uint32_t count = 0;
    if (tables->gnu_hash)
        count = count_by_gnu_hash(tables->gnu_hash);
    else if (tables->hash && sys_peek(tables->hash, head, sizeof head))
        count = head[1];
    return count < SYMBOLS_MOST ? count : SYMBOLS_MOST;
}

static bool is_better(const ElfW(Sym) * symbol, const ElfW(Sym) * best, uintptr_t offset)
{
    unsigned type = symbol->st_info & 15;
    if ((type != STT_FUNC && type != STT_GNU_IFUNC) || symbol->st_shndx == SHN_UNDEF ||
        symbol->st_value > offset)
        return false;
    if (symbol->st_size && offset - symbol->st_value >= symbol->st_size)
        return false;
    return !best->st_name || symbol->st_value > best->st_value;
}

bool names_find(const struct link_map *map, uintptr_t address, char *scratch, size_t size,
                struct name *out)
{
    struct tables tables;
    ElfW(Sym) best = {0};
    uintptr_t offset = address - map->l_addr;
    uint32_t room = size / sizeof best;
    if (!room || !find_tables(map, &tables))
        return false;
    uint32_t count = count_symbols(&tables);
    for (uint32_t at = 0, part; at < count; at += part) {
        const ElfW(Sym) *symbols = (const void *)scratch;
        part = count - at < room ? count - at : room;
        if (!sys_peek(tables.symbols + at * sizeof best, scratch, part * sizeof best))
            return false;
        for (uint32_t i = 0; i < part; i++)
            if (is_better(&symbols[i], &best, offset))
                best = symbols[i];
    }
    if (!best.st_name)
        return false;
    /* The table may end with its page. */
    uintptr_t text = tables.strings + best.st_name;
    size_t length = sizeof out->text - 1;
    while (length && !sys_peek(text, out->text, length))
        length /= 2;
    out->text[length] = '\0';
    out->offset = offset - best.st_value;
    return length != 0;
}
