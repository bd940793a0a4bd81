/* perfmap_name.h - what a line of a perf map calls a function, taken apart: each virtual machine
 * has a form.
 *
 *   JS:*outer /srv/app.js:10:5      V8: * ^ ~ + say by which compiler, which is no part of the name
 *   py::outer:/srv/app.py           CPython
 *   void L.outer(int)               anything else is the name
 *
 * Pure; what it makes lies in mem.
 */
#ifndef COMMON_NAMES_PERFMAP_NAME_H
#define COMMON_NAMES_PERFMAP_NAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/arena.h"

struct perfname {
    const char *function;
    const char *file; /* NULL = not said */
    uint32_t line, column;
    bool runtime; /* the machine's own: an interpreter, a stub */
};

struct perfname perfname_read(struct mem *mem, const char *text, size_t length);

#endif
