/* source.c - looks for a source file and gives one line of it; see source.h. */
#include "common/names/source.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "common/base/foreign_file.h"

const char *source_map_path(const struct source_search *search, const char *file, char *buffer,
                            size_t size)
{
    for (size_t i = 0; i < search->substitute_count; i++) {
        const char *from = search->substitutes[i];
        const char *to = strchr(from, '=');
        size_t length = to ? (size_t)(to - from) : 0;

        if (!length || strncmp(file, from, length) != 0)
            continue;
        if (from[length - 1] != '/' && file[length] != '/' && file[length] != 0)
            continue; /* /usr/src is no prefix of /usr/src2 */
        if ((size_t)snprintf(buffer, size, "%s%s", to + 1, file + length) < size)
            return buffer;
    }
    return file;
}

const char *source_relative_path(const char *relative, const char *path)
{
    size_t length = relative ? strlen(relative) : 0;

    if (length > 1 && strncmp(path, relative, length) == 0 && path[length] == '/')
        return path + length + 1;
    return path;
}

static FILE *open_regular(const char *path)
{
    int fd = foreign_file_open(path);

    return fd < 0 ? NULL : fdopen(fd, "r");
}

static FILE *open_below_dir(const char *dir, const char *file)
{
    char path[PATH_MAX];
    const char *rest = file;

    while (rest) {
        FILE *stream;
        const char *slash;

        while (*rest == '/')
            rest++;
        if (*rest && (size_t)snprintf(path, sizeof(path), "%s/%s", dir, rest) < sizeof(path)) {
            stream = open_regular(path);
            if (stream)
                return stream;
        }
        slash = strchr(rest, '/');
        rest = slash;
    }
    return NULL;
}

static FILE *open_source(const struct source_search *search, const char *file)
{
    char buffer[PATH_MAX];
    FILE *stream = open_regular(source_map_path(search, file, buffer, sizeof(buffer)));

    for (size_t i = 0; !stream && i < search->dir_count; i++)
        stream = open_below_dir(search->dirs[i], file);
    return stream;
}

/* No source is longer: what debug information names may be a file of any size. */
#define SOURCE_MOST ((size_t)8 << 20)

struct source_file {
    FILE *stream;
    size_t left; /* bytes that may be read */
};

static int next_byte(struct source_file *source)
{
    return source->left && source->left-- ? getc_unlocked(source->stream) : EOF;
}

/* Reads a line into text and skips what does not fit. */
static bool read_source_line(struct source_file *source, bool indented, char *text, size_t size)
{
    size_t length = 0;
    int byte = next_byte(source);

    if (byte == EOF)
        return false;
    for (; byte != EOF && byte != '\n'; byte = next_byte(source))
        if (length + 1 < size && (indented || length || !isspace(byte)))
            text[length++] = (char)byte;
    while (length && isspace((unsigned char)text[length - 1]))
        length--;
    text[length] = 0;
    return true;
}

bool source_read_line(const struct source_search *search, const char *file, uint32_t line,
                      char *text, size_t size)
{
    struct source_file source = {line ? open_source(search, file) : NULL, SOURCE_MOST};
    bool found = source.stream != NULL;

    if (!source.stream)
        return false;
    for (uint32_t at = 0; found && at < line; at++)
        found = read_source_line(&source, false, text, size);
    fclose(source.stream);
    return found && *text;
}

size_t source_read_lines(const struct source_search *search, const char *file, uint32_t first,
                         char *text, size_t count, size_t size)
{
    struct source_file source = {first ? open_source(search, file) : NULL, SOURCE_MOST};
    bool found = source.stream != NULL;
    size_t got = 0;

    if (!source.stream)
        return 0;
    for (uint32_t at = 1; found && at < first; at++)
        found = read_source_line(&source, false, text, size);
    while (found && got < count &&
           (found = read_source_line(&source, true, text + got * size, size)))
        got++;
    fclose(source.stream);
    return got;
}
