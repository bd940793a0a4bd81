/* source.h - reads lines of source files. It tries in order: the path with --substitute-path
 * applied; then below each --source-path the whole path, the path without its first directory,
 * without its first two, and so on down to the base name; then the same in the directory of the
 * module and those above it, for a program that was moved together with its source. The
 * program's debug information names the file, so it is opened as foreign_file.h says, and no
 * more than 8 MiB of it are read. */
#ifndef COMMON_NAMES_SOURCE_H
#define COMMON_NAMES_SOURCE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct source_search {
    const char *const *dirs;
    size_t dir_count;
    const char *const *substitutes; /* values of --substitute-path, each "FROM=TO" */
    size_t substitute_count;
};

/* A source file as debug information names it. */
struct source_name {
    const char *file;
    const char *module; /* path of the module whose debug information names the file, NULL =
                         * unknown */
};

/* Finds a source file and its absolute path. False: there is no such file. */
bool source_find(const struct source_search *search, const struct source_name *name,
                 char path[PATH_MAX]);

/* Reads one line of a source file without its indentation, truncated to `size`. False: no such
 * file or line. */
bool source_read_line(const struct source_search *search, const struct source_name *name,
                      uint32_t line, char *text, size_t size);

/* Reads `count` lines from `first` on, with indentation and with blanks for tabs, each truncated to
 * `size` and stored `size` bytes apart. Returns the number of lines. */
size_t source_read_lines(const struct source_search *search, const struct source_name *name,
                         uint32_t first, char *text, size_t count, size_t size);

/* The path relative to the directory `relative` if it is below that, else unchanged; relative
 * may be NULL. */
const char *source_relative_path(const char *relative, const char *path);

/* The path with the first matching substitution of --substitute-path applied, in buffer; or the
 * path itself. */
const char *source_map_path(const struct source_search *search, const char *file, char *buffer,
                            size_t size);

#endif
