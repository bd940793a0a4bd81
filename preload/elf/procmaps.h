/* procmaps.h - what is mapped where: /proc/self/maps, taken apart.
 *
 * Read by the child of a look, which is a picture of the process: the mappings are the same, and
 * nobody changes them. Memory comes from the kernel and stays for the child's short life.
 */
#ifndef PRELOAD_ELF_PROCMAPS_H
#define PRELOAD_ELF_PROCMAPS_H

#include "preload/base/base.h"

struct mapping {
    uintptr_t start, end;
    uint64_t offset, inode;
    const char *path; /* "" for anonymous memory; "[heap]", "[stack]" ... */
    bool read, write, execute, shared;
};

struct maps {
    struct mapping *mapping; /* ascending */
    uint32_t count;
};

/* False: it cannot be read, or there is no memory. */
bool maps_read(struct maps *out);
/* One line, NUL-terminated, without its newline; the path stays there. */
bool maps_parse(const char *line, struct mapping *out);
/* Private memory of no file that can be written to. */
bool maps_is_anonymous(const struct mapping *mapping);
/* One after the other, in the caller's memory, without a lock: for a handler of a signal that
 * kills. A line that is longer than size is passed over. False: it cannot be read. */
bool maps_each(char *buffer, size_t size,
               void (*visit)(const struct mapping *mapping, void *context), void *context);
/* The mapping around an address, or NULL. */
const struct mapping *maps_find(const struct maps *maps, uintptr_t address);

#endif
