/* perfmap.h - names of code that is generated at run time, from the maps that node, java and
 * others write for perf: /tmp/perf-PID.map, with lines "HEXSTART HEXSIZE NAME".
 *
 * The file is not trusted. A map found by its pid is used only if it is a regular file of the
 * recording file's owner, of root or of the reading user, and was written while the process
 * lived. Of a very long map only the end is read, which has the newest names. Where lines
 * overlap the later line wins, because a virtual machine reuses the memory of discarded code.
 * The file is read at the first lookup.
 */
#ifndef COMMON_NAMES_PERFMAP_H
#define COMMON_NAMES_PERFMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/arena.h"

struct perfmap;

/* Which perf map to read. */
struct perfmap_of {
    const char *file;  /* path of a map, used without checks; NULL = find the map by pid */
    const char *store; /* path of the recording file; the owner of that file may own the map */
    int pid;
    uint64_t started_ns, ended_ns; /* life of the process; ended_ns 0 = unknown */
};

/* Prepares a map; opens no file yet. The caller must keep the strings of `of` as long as mem. */
struct perfmap *perfmap_begin(struct arena *mem, const struct perfmap_of *of);
/* Frees a map; does nothing if map is NULL. */
void perfmap_end(struct perfmap *map);

/* Parses a text in place of a file. The caller keeps the text as long as the map. */
void perfmap_parse(struct perfmap *map, const char *text, size_t length);

struct perfmap_name {
    const char *text; /* the name, without a NUL; NULL = no line covers the address */
    size_t length;
};
struct perfmap_name perfmap_find(struct perfmap *map, uint64_t address);

/* The parts of a name, which each virtual machine writes in a form of its own:
 *
 *   JS:*outer /srv/app.js:10:5      V8; * ^ ~ + name the compiler and are dropped
 *   py::outer:/srv/app.py           CPython
 *   void L.outer(int)               others; the whole text is the function
 */
struct perfmap_function {
    const char *function;
    const char *file; /* path of the source file; NULL = unknown */
    uint32_t line, column;
    bool runtime; /* the code is the virtual machine's own, such as its interpreter or a stub */
};

/* Splits a name into its parts. The strings live in mem. */
struct perfmap_function perfmap_parse_name(struct arena *mem, const char *text, size_t length);

#endif
