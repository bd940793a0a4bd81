/* perfmap.h - names of code that a program made while it ran: what node, java and others write for
 * perf into /tmp/perf-PID.map, "HEXSTART HEXSIZE NAME" a line.
 *
 * The file may be anybody's and hold anything. The one that is found by its name is used only when
 * it is a regular file of the store's owner, of root or of whoever reads, and was written while the
 * process lived; of a very long one the end is read, which has the newest. Where lines overlap the
 * later one counts: code goes, and other code comes to its place. Read when the first address is
 * asked for.
 */
#ifndef COMMON_NAMES_PERFMAP_H
#define COMMON_NAMES_PERFMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/arena.h"

struct perfmap;

/* Whose map it is. */
struct perfmap_of {
    const char
        *file; /* that one, whatever it is and whenever it was written; NULL = found by pid */
    const char *store; /* path: who owns it may own the map */
    int pid;
    uint64_t started_ns, ended_ns; /* ended 0 = not known */
};

/* Nothing is opened yet. The texts stay the caller's, as long as mem lives. */
struct perfmap *perfmap_begin(struct mem *mem, const struct perfmap_of *of);
void perfmap_end(struct perfmap *map); /* NULL is fine */

/* A text that is there already; it is not copied. */
void perfmap_parse(struct perfmap *map, const char *text, size_t length);

struct perfmap_name {
    const char *text; /* not terminated; NULL = there is none */
    size_t length;
};
struct perfmap_name perfmap_find(struct perfmap *map, uint64_t address);

#endif
