/* file_pattern.h - makes the names of files of the runtime from patterns in options.
 *
 *     %p  the pid      %e  the program      %n  a number      %%  the character %
 *
 * A file is made long after the option was read, perhaps by a fork child in another directory: so
 * the pattern is made absolute at once, and expanded later. */
#ifndef PRELOAD_STORE_FILE_PATTERN_H
#define PRELOAD_STORE_FILE_PATTERN_H

#include "preload/base/strbuf.h"

/* Appends the pattern, and before it the current working directory unless the pattern is
 * absolute. */
void file_pattern_make_absolute(struct strbuf *out, const char *pattern);
void file_pattern_expand(struct strbuf *out, const char *pattern, const char *program,
                         uint64_t number);

#endif
