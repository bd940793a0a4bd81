/* source.h - the text of one source line, found where the sources are now.
 *
 * Tried in order: the path with --substitute-path applied, then below each --source-path the whole
 * path, the path without its first directories one after the other, the bare name.
 */
#ifndef COMMON_NAMES_SOURCE_H
#define COMMON_NAMES_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct source_search {
    const char *const *dirs;
    size_t dir_count;
    const char *const *substitutes; /* "FROM=TO" */
    size_t substitute_count;
};

/* The line without its indentation and end, cut off at `size`. False: no such file or line. */
bool source_line(const struct source_search *search, const char *file, uint32_t line, char *text,
                 size_t size);

/* So many lines from `first` on, whole but for their ends, each cut off at `size` and in a place of
 * so many bytes. Returns how many there are. */
size_t source_lines(const struct source_search *search, const char *file, uint32_t first,
                    char *text, size_t count, size_t size);

/* The path as seen from the directory `relative`, when it is below it; NULL = there is none. */
const char *source_near(const char *relative, const char *path);

/* The path with the first fitting substitution, in buffer or as it is. */
const char *source_path(const struct source_search *search, const char *file, char *buffer,
                        size_t size);

#endif
