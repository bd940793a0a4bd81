/* perfmap.h - names of code generated at run time: what node, java and others write for perf into
 * /tmp/perf-PID.map, "HEXSTART HEXSIZE NAME" a line.
 *
 * The file is not trusted. One that is found by its name is used only when it is a regular file of
 * the recording file's owner, of root or of the reading user, and was written while the process
 * lived; of a very long file only the end is read, which has the newest names. Where lines overlap
 * the later line wins, because a virtual machine reuses the memory of discarded code. The file is
 * read at the first lookup.
 */
#ifndef COMMON_NAMES_PERFMAP_H
#define COMMON_NAMES_PERFMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/arena.h"

struct perfmap;

/* Which map to read. */
struct perfmap_of {
    const char *file;  /* this one, unchecked; NULL = found by pid */
    const char *store; /* path of the recording file, whose owner may own the map */
    int pid;
    uint64_t started_ns, ended_ns; /* ended_ns 0 = unknown */
};

/* Opens nothing yet. The caller keeps the strings of `of` as long as mem. */
struct perfmap *perfmap_begin(struct arena *mem, const struct perfmap_of *of);
void perfmap_end(struct perfmap *map); /* accepts NULL */

/* Uses this text instead of a file; does not copy it. */
void perfmap_parse(struct perfmap *map, const char *text, size_t length);

struct perfmap_name {
    const char *text; /* not terminated; NULL = not found */
    size_t length;
};
struct perfmap_name perfmap_find(struct perfmap *map, uint64_t address);

/* The parts of a name; each virtual machine has a form:
 *
 *   JS:*outer /srv/app.js:10:5      V8; * ^ ~ + name the compiler and are dropped
 *   py::outer:/srv/app.py           CPython
 *   void L.outer(int)               anything else is the name
 */
struct perfmap_function {
    const char *function;
    const char *file; /* NULL = unknown */
    uint32_t line, column;
    bool runtime; /* code of the virtual machine itself: an interpreter, a stub */
};

/* The strings live in mem. */
struct perfmap_function perfmap_parse_name(struct arena *mem, const char *text, size_t length);

#endif
