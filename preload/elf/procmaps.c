#include "preload/elf/procmaps.h"
#include "preload/memory/arena.h"
#include "preload/memory/collections.h"
#include "preload/base/strbuf.h"
#include "leak_store.h"

#include <fcntl.h>

#define TEXT_FIRST (256ull << 10)

/* Reads a hexadecimal number, and skips the character "end" if it follows. */
static uint64_t read_hex(const char **at, char end)
{
    uint64_t value = parse_hex(at);
    *at += **at == end;
    return value;
}

static uint64_t read_decimal(const char **at)
{
    uint64_t value = 0;
    for (; **at >= '0' && **at <= '9'; ++*at)
        value = value * 10 + (**at - '0');
    return value;
}

bool procmaps_parse_line(const char *line, struct mapping *out)
{
    const char *at = line;
    out->start = read_hex(&at, '-');
    out->end = read_hex(&at, ' ');
    if (strlen(at) < 5 || out->end <= out->start)
        return false;
    out->read = at[0] == 'r';
    out->write = at[1] == 'w';
    out->execute = at[2] == 'x';
    out->shared = at[3] == 's';
    at += 5;
    out->offset = read_hex(&at, ' ');
    read_hex(&at, ':'); /* skips the major and minor number of the device */
    read_hex(&at, ' ');
    out->inode = read_decimal(&at);
    while (*at == ' ')
        at++;
    out->path = at;
    return true;
}

bool procmaps_is_anonymous(const struct mapping *mapping)
{
    return !mapping->inode && mapping->write && !mapping->shared &&
           (!mapping->path[0] || strncmp(mapping->path, "[heap", 5) == 0 ||
            strncmp(mapping->path, "[anon", 5) == 0);
}

/* Maps memory for the text of /proc/self/maps. The memory is registered as libleak's own, because
 * it will be among the mappings that the text lists. */
static char *map_registered(size_t size)
{
    char *memory = sys_map(size);
    if (memory)
        arena_register(memory, size);
    return memory;
}

/* Reads all of /proc/self/maps and returns its text, which ends with a NUL. *length: without the
 * NUL. NULL: the file cannot be read, or there is no memory. */
static char *read_maps_file(size_t *length)
{
    int fd = sys_open("/proc/self/maps", O_RDONLY | O_CLOEXEC, 0);
    size_t size = TEXT_FIRST;
    char *text = fd < 0 ? NULL : map_registered(size);
    ssize_t got;
    *length = 0;
    while (text && (got = sys_read(fd, text + *length, size - 1 - *length)) > 0) {
        *length += got;
        if (size - 1 - *length >= LEAK_PAGE)
            continue;
        char *larger = map_registered(2 * size);
        if (larger)
            memcpy(larger, text, *length);
        text = larger; /* the smaller buffer stays mapped, because the text may list it already */
        size *= 2;
    }
    if (fd >= 0)
        sys_close(fd);
    return text;
}

bool procmaps_read(struct procmaps *out)
{
    size_t length, lines = 0;
    char *text = read_maps_file(&length);
    *out = (struct procmaps){0};
    for (size_t i = 0; text && i < length; i++)
        lines += text[i] == '\n';
    if (!lines || !(out->mapping = sys_map(lines * sizeof *out->mapping)))
        return false;
    for (char *line = text, *end; (end = strchr(line, '\n')); line = end + 1) {
        *end = '\0';
        if (procmaps_parse_line(line, &out->mapping[out->count]))
            out->count++;
    }
    return out->count != 0;
}

/* Visits the mappings of the complete lines at the start of the text. Returns the length of these
 * lines. */
static size_t visit_lines(char *text, void (*visit)(const struct mapping *mapping, void *context),
                          void *context)
{
    struct mapping mapping;
    char *line = text;
    for (char *end; (end = strchr(line, '\n')); line = end + 1) {
        *end = '\0';
        if (procmaps_parse_line(line, &mapping))
            visit(&mapping, context);
    }
    return line - text;
}

bool procmaps_each(char *buffer, size_t size,
                   void (*visit)(const struct mapping *mapping, void *context), void *context)
{
    size_t length = 0;
    ssize_t got;
    int fd = sys_open("/proc/self/maps", O_RDONLY | O_CLOEXEC, 0);
    if (fd < 0)
        return false;
    while ((got = sys_read(fd, buffer + length, size - 1 - length)) > 0) {
        length += got;
        buffer[length] = '\0';
        size_t done = visit_lines(buffer, visit, context);
        if (!done && length == size - 1)
            length = done = 0;
        memmove(buffer, buffer + done, length - done);
        length -= done;
    }
    sys_close(fd);
    return true;
}

const struct mapping *procmaps_find(const struct procmaps *maps, uintptr_t address)
{
    size_t first = LOWER_BOUND(maps->count, i, maps->mapping[i].end <= address);
    const struct mapping *found = &maps->mapping[first];
    return first < maps->count && found->start <= address ? found : NULL;
}

/* ---- Which pages were touched ---------------------------------------------------------------- */

int pagemap_open(void)
{
    return sys_open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC, 0);
}

size_t pagemap_read(int pagemap, uintptr_t at, uintptr_t end, uint64_t *entry, size_t most)
{
    size_t pages = (end - at + LEAK_PAGE - 1) / LEAK_PAGE;
    pages = pages < most ? pages : most;
    ssize_t size = pages * sizeof *entry;
    if (pagemap < 0 || sys_read_at(pagemap, entry, size, at / LEAK_PAGE * sizeof *entry) != size)
        memset(entry, 0xff, size);
    return pages;
}
