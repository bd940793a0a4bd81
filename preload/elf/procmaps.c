#include "preload/elf/procmaps.h"
#include "preload/base/arena.h"
#include "preload/base/sys.h"
#include "preload/base/strbuf.h"
#include "leak_store.h"

#include <fcntl.h>

#define TEXT_FIRST (256ull << 10)

/* "7f00-7f10": the number up to the character, and past it. */
static uint64_t hex(const char **at, char end)
{
    uint64_t value = text_take_hex(at);
    *at += **at == end;
    return value;
}

static uint64_t decimal(const char **at)
{
    uint64_t value = 0;
    for (; **at >= '0' && **at <= '9'; ++*at)
        value = value * 10 + (**at - '0');
    return value;
}

bool maps_parse(const char *line, struct mapping *out)
{
    const char *at = line;
    out->start = hex(&at, '-');
    out->end = hex(&at, ' ');
    if (strlen(at) < 5 || out->end <= out->start)
        return false;
    out->read = at[0] == 'r';
    out->write = at[1] == 'w';
    out->execute = at[2] == 'x';
    out->shared = at[3] == 's';
    at += 5;
    out->offset = hex(&at, ' ');
    hex(&at, ':'); /* the device */
    hex(&at, ' ');
    out->inode = decimal(&at);
    while (*at == ' ')
        at++;
    out->path = at;
    return true;
}

bool maps_is_anonymous(const struct mapping *mapping)
{
    return !mapping->inode && mapping->write && !mapping->shared &&
           (!mapping->path[0] || strncmp(mapping->path, "[heap", 5) == 0 ||
            strncmp(mapping->path, "[anon", 5) == 0);
}

/* It is in the list that it is for: ours. */
static char *map_own(size_t size)
{
    char *memory = sys_map(size);
    if (memory)
        arena_own(memory, size);
    return memory;
}

/* The whole file; *length without the NUL behind it. */
static char *read_text(size_t *length)
{
    int fd = sys_open("/proc/self/maps", O_RDONLY | O_CLOEXEC, 0);
    size_t size = TEXT_FIRST;
    char *text = fd < 0 ? NULL : map_own(size);
    ssize_t got;
    *length = 0;
    while (text && (got = sys_read(fd, text + *length, size - 1 - *length)) > 0) {
        *length += got;
        if (size - 1 - *length >= LEAK_PAGE)
            continue;
        char *larger = map_own(2 * size);
        if (larger)
            memcpy(larger, text, *length);
        text = larger; /* the smaller one stays: it may stand in what was read */
        size *= 2;
    }
    if (fd >= 0)
        sys_close(fd);
    return text;
}

bool maps_read(struct maps *out)
{
    size_t length, lines = 0;
    char *text = read_text(&length);
    *out = (struct maps){0};
    for (size_t i = 0; text && i < length; i++)
        lines += text[i] == '\n';
    if (!lines || !(out->mapping = sys_map(lines * sizeof *out->mapping)))
        return false;
    for (char *line = text, *end; (end = strchr(line, '\n')); line = end + 1) {
        *end = '\0';
        if (maps_parse(line, &out->mapping[out->count]))
            out->count++;
    }
    return out->count != 0;
}

/* The whole lines at the front; how many bytes they were. */
static size_t visit_lines(char *text, void (*visit)(const struct mapping *mapping, void *context),
                          void *context)
{
    struct mapping mapping;
    char *line = text;
    for (char *end; (end = strchr(line, '\n')); line = end + 1) {
        *end = '\0';
        if (maps_parse(line, &mapping))
            visit(&mapping, context);
    }
    return line - text;
}

bool maps_each(char *buffer, size_t size,
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

const struct mapping *maps_find(const struct maps *maps, uintptr_t address)
{
    uint32_t low = 0, high = maps->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (maps->mapping[middle].end <= address)
            low = middle + 1;
        else
            high = middle;
    }
    const struct mapping *found = &maps->mapping[low];
    return low < maps->count && found->start <= address ? found : NULL;
}
