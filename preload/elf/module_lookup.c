#include "preload/elf/module_lookup.h"
#include "preload/base/sys.h"

#include <link.h>
#include <limits.h>

#define OBJECTS_MOST 4096
#define ENTRIES 64 /* of a dynamic section */
#define NAME 512

/* A text in memory that may go meanwhile; what does not fit is cut. */
static bool read_text(uintptr_t address, char *out, size_t size)
{
    size_t length = 0;
    while (length + 1 < size) {
        size_t step = 64 - (address + length) % 64; /* never over a page's end */
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

static const char *base_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* The name it gives itself, DT_SONAME. */
static bool read_soname(const struct link_map *map, char *out, size_t size)
{
    uintptr_t texts = 0, place = UINTPTR_MAX;
    for (int i = 0; i < ENTRIES; i++) {
        ElfW(Dyn) entry;
        if (!sys_peek((uintptr_t)(map->l_ld + i), &entry, sizeof entry) || entry.d_tag == DT_NULL)
            break;
        if (entry.d_tag == DT_STRTAB)
            texts = entry.d_un.d_ptr;
        else if (entry.d_tag == DT_SONAME)
            place = entry.d_un.d_val;
    }
    if (!texts || place == UINTPTR_MAX)
        return false;
    if (texts < map->l_addr) /* where the section is read-only, glibc leaves it as in the file */
        texts += map->l_addr;
    return read_text(texts + place, out, size);
}

static bool is_called(const struct link_map *map, const char *name)
{
    char text[NAME];
    if (!read_text((uintptr_t)map->l_name, text, sizeof text))
        return false;
    if (strcmp(base_of(text), base_of(name)) == 0)
        return true;
    return !strchr(name, '/') && read_soname(map, text, sizeof text) && strcmp(text, name) == 0;
}

uint64_t loaded_find(const char *name)
{
    struct link_map map;
    uintptr_t at = (uintptr_t)_r_debug.r_map;
    for (int i = 0; at && i < OBJECTS_MOST; i++, at = (uintptr_t)map.l_next) {
        if (!sys_peek(at, &map, sizeof map))
            break;
        if (is_called(&map, name))
            return at;
    }
    return 0;
}
