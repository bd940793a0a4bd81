#include "preload/elf/link_map.h"
#include "preload/base/strbuf.h"
#include "preload/base/sys.h"

#include <elf.h>

#define OBJECTS_MOST 4096
#define DYNAMIC_MOST 512 /* largest number of entries of a dynamic section that is read */

struct tables {
    uintptr_t symbols, strings, gnu_hash, hash;
    uint64_t soname; /* offset of the object's name in the string table; UINT64_MAX: it has none */
};

/* Reads where the tables of an object are from its dynamic section. glibc has replaced the offsets
 * in it by addresses only where the section is writable. */
static struct tables read_dynamic(const struct link_map *map)
{
    struct tables tables = {.soname = UINT64_MAX};
    ElfW(Dyn) entry;
    for (unsigned i = 0; map->l_ld && i < DYNAMIC_MOST; i++) {
        if (!sys_peek((uintptr_t)&map->l_ld[i], &entry, sizeof entry) || entry.d_tag == DT_NULL)
            break;
        uintptr_t value = entry.d_un.d_ptr;
        uintptr_t address = value < map->l_addr ? map->l_addr + value : value;
        if (entry.d_tag == DT_SYMTAB)
            tables.symbols = address;
        else if (entry.d_tag == DT_STRTAB)
            tables.strings = address;
        else if (entry.d_tag == DT_GNU_HASH)
            tables.gnu_hash = address;
        else if (entry.d_tag == DT_HASH)
            tables.hash = address;
        else if (entry.d_tag == DT_SONAME)
            tables.soname = value;
    }
    return tables;
}

/* ---- Finding a loaded object by its name ----------------------------------------------------- */

#define NAME 512

/* Copies a string from memory that another thread may unmap meanwhile. A string that is longer than
 * the buffer is cut. False: the memory cannot be read. */
static bool read_string(uintptr_t address, char *out, size_t size)
{
    size_t length = 0;
    while (length + 1 < size) {
        /* Reads up to a multiple of 64, so that no read crosses the end of a page. */
        size_t step = 64 - (address + length) % 64;
        if (step > size - 1 - length)
            step = size - 1 - length;
        if (!sys_peek(address + length, out + length, step))
            return false;
        if (memchr(out + length, '\0', step))
            return true;
        length += step;
    }
    out[length] = '\0';
    return true;
}

static bool read_soname(const struct link_map *map, char *out, size_t size)
{
    struct tables tables = read_dynamic(map);
    return tables.strings && tables.soname != UINT64_MAX &&
           read_string(tables.strings + tables.soname, out, size);
}

static bool is_object_called(const struct link_map *map, const char *name)
{
    char text[NAME];
    if (!read_string((uintptr_t)map->l_name, text, sizeof text))
        return false;
    if (strcmp(path_file_name(text), path_file_name(name)) == 0)
        return true;
    return !strchr(name, '/') && read_soname(map, text, sizeof text) && strcmp(text, name) == 0;
}

uint64_t link_map_find_object(const char *name)
{
    struct link_map map;
    uintptr_t at = (uintptr_t)_r_debug.r_map;
    for (int i = 0; at && i < OBJECTS_MOST; i++, at = (uintptr_t)map.l_next) {
        if (!sys_peek(at, &map, sizeof map))
            break;
        if (is_object_called(&map, name))
            return at;
    }
    return 0;
}

/* ---- Finding the exported function at an address --------------------------------------------- */

#define SYMBOLS_MOST (1u << 20)

/* Returns the number of symbols of an object from its GNU hash table, which does not state it: the
 * chain of the bucket with the highest symbol number ends with the last symbol. */
static uint32_t count_by_gnu_hash(uintptr_t table)
{
    /* The four numbers at the start of the table: of buckets, of the first symbol, of words of the
     * Bloom filter, and the filter's shift. */
    uint32_t head[4], last = 0, word;
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
    uint32_t head[2]; /* number of buckets, number of chains */
    uint32_t count = 0;
    if (tables->gnu_hash)
        count = count_by_gnu_hash(tables->gnu_hash);
    else if (tables->hash && sys_peek(tables->hash, head, sizeof head))
        count = head[1];
    return count < SYMBOLS_MOST ? count : SYMBOLS_MOST;
}

static bool is_better_match(const ElfW(Sym) * symbol, const ElfW(Sym) * best, uintptr_t offset)
{
    unsigned type = symbol->st_info & 15;
    if ((type != STT_FUNC && type != STT_GNU_IFUNC) || symbol->st_shndx == SHN_UNDEF ||
        symbol->st_value > offset)
        return false;
    if (symbol->st_size && offset - symbol->st_value >= symbol->st_size)
        return false;
    return !best->st_name || symbol->st_value > best->st_value;
}

bool link_map_find_function(const struct link_map *map, uintptr_t address, char *scratch,
                            size_t size, struct link_map_function *out)
{
    struct tables tables = read_dynamic(map);
    ElfW(Sym) best = {0};
    uintptr_t offset = address - map->l_addr;
    uint32_t room = size / sizeof best;
    if (!room || !tables.symbols || !tables.strings)
        return false;
    uint32_t count = count_symbols(&tables);
    for (uint32_t at = 0, part; at < count; at += part) {
        const ElfW(Sym) *symbols = (const void *)scratch;
        part = count - at < room ? count - at : room;
        if (!sys_peek(tables.symbols + at * sizeof best, scratch, part * sizeof best))
            return false;
        for (uint32_t i = 0; i < part; i++)
            if (is_better_match(&symbols[i], &best, offset))
                best = symbols[i];
    }
    if (!best.st_name)
        return false;
    /* Less may be mapped than the buffer holds, so try shorter reads. */
    uintptr_t string = tables.strings + best.st_name;
    size_t length = sizeof out->text - 1;
    while (length && !sys_peek(string, out->text, length))
        length /= 2;
    out->text[length] = '\0';
    out->offset = offset - best.st_value;
    return length != 0;
}
