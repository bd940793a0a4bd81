/* source.c - searches source files and reads their lines. */
#include "common/names/source.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
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
            continue; /* FROM must end at a '/' of the path: /usr/src does not match
                       * /usr/src2/x.c */
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

/* Opens a source file below a directory, by the whole path and then by fewer and fewer of its last
 * components. least: number of components that must remain. NULL: there is no such file. */
static FILE *open_below_dir(const char *dir, const char *file, size_t least, char path[PATH_MAX])
{
    const char *rest = file;
    size_t left = 0;

    for (const char *at = file; *at; at++)
        left += *at != '/' && (at == file || at[-1] == '/');
    for (; left >= least && left; left--) {
        FILE *stream;

        rest += strspn(rest, "/");
        if ((size_t)snprintf(path, PATH_MAX, "%s/%s", dir, rest) < PATH_MAX &&
            (stream = open_regular(path)))
            return stream;
        rest += strcspn(rest, "/");
    }
    return NULL;
}

/* Says whether the system installed a module. Such a module was not moved together with its
 * source, and files near it are unrelated. */
static bool is_of_system(const char *module)
{
    static const char *const directories[] = {"/usr/bin/",     "/usr/sbin/", "/usr/lib", "/bin/",
                                              "/usr/libexec/", "/sbin/",     "/lib"};

    for (size_t i = 0; i < sizeof(directories) / sizeof(*directories); i++)
        if (strncmp(module, directories[i], strlen(directories[i])) == 0)
            return true;
    return false;
}

/* How many levels of directories above the module's own are searched for sources: a module in
 * build/bin/x86_64 has its sources three levels up. */
#define ABOVE_MODULE 3

static FILE *open_near_module(const char *module, const char *file, char path[PATH_MAX])
{
    char dir[PATH_MAX];
    FILE *stream = NULL;
    char *slash;

    if (!module || *module != '/' || is_of_system(module))
        return NULL;
    snprintf(dir, sizeof(dir), "%s", module);
    for (size_t up = 0; !stream && up <= ABOVE_MODULE && (slash = strrchr(dir, '/')) > dir; up++) {
        *slash = 0;
        stream =
            /* In directories above the module's, an equal base name is not enough: two components
             * must be equal, since unrelated files may have the same base name. */
            open_below_dir(dir, file, up ? 2 : 1, path);
    }
    return stream;
}

/* Opens a source file, and stores in `path` where it was found. NULL: it was not found. */
static FILE *open_source(const struct source_search *search, const struct source_name *name,
                         char path[PATH_MAX])
{
    char buffer[PATH_MAX];
    const char *mapped = source_map_path(search, name->file, buffer, sizeof(buffer));
    FILE *stream = open_regular(mapped);

    if (stream)
        snprintf(path, PATH_MAX, "%s", mapped);
    for (size_t i = 0; !stream && i < search->dir_count; i++)
        stream = open_below_dir(search->dirs[i], name->file, 1, path);
    return stream ? stream : open_near_module(name->module, name->file, path);
}

bool source_find(const struct source_search *search, const struct source_name *name,
                 char path[PATH_MAX])
{
    char opened[PATH_MAX];
    FILE *stream = open_source(search, name, opened);

    if (!stream)
        return false;
    fclose(stream);
    if (*opened != '/')
        return realpath(opened, path) != NULL;
    snprintf(path, PATH_MAX, "%s", opened);
    return true;
}

/* Most bytes read from a source file: debug information may name a file of any size. */
#define SOURCE_MOST ((size_t)8 << 20)
#define TAB_STOP 8 /* columns from one tab stop to the next */

struct source_file {
    FILE *stream;
    size_t left; /* number of bytes that may still be read */
};

static int next_byte(struct source_file *source)
{
    return source->left && source->left-- ? getc_unlocked(source->stream) : EOF;
}

/* Appends a tab: as one blank, none behind a blank; indented: as blanks up to the next tab stop. */
static size_t append_tab(bool indented, char *text, size_t length, size_t size)
{
    if (!indented && text[length - 1] == ' ')
        return length;
    do
        text[length++] = ' ';
    while (indented && length % TAB_STOP && length + 1 < size);
    return length;
}

/* Reads a line into text and skips what does not fit. indented: keep the indentation; else remove
 * it, and replace each run of tabs by one blank. False: the file has no more lines. */
static bool read_source_line(struct source_file *source, bool indented, char *text, size_t size)
{
    size_t length = 0;
    int byte = next_byte(source);

    if (byte == EOF)
        return false;
    for (; byte != EOF && byte != '\n'; byte = next_byte(source)) {
        if (length + 1 >= size || (!indented && !length && isspace(byte)))
            continue;
        if (byte == '\t')
            length = append_tab(indented, text, length, size);
        else
            text[length++] = (char)byte;
    }
    while (length && isspace((unsigned char)text[length - 1]))
        length--;
    text[length] = 0;
    return true;
}

bool source_read_line(const struct source_search *search, const struct source_name *name,
                      uint32_t line, char *text, size_t size)
{
    char path[PATH_MAX];
    struct source_file source = {line ? open_source(search, name, path) : NULL, SOURCE_MOST};
    bool found = source.stream != NULL;

    if (!source.stream)
        return false;
    for (uint32_t at = 0; found && at < line; at++)
        found = read_source_line(&source, false, text, size);
    fclose(source.stream);
    return found && *text;
}

size_t source_read_lines(const struct source_search *search, const struct source_name *name,
                         uint32_t first, char *text, size_t count, size_t size)
{
    char path[PATH_MAX];
    struct source_file source = {first ? open_source(search, name, path) : NULL, SOURCE_MOST};
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
