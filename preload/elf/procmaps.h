/* procmaps.h - what is mapped where, and what of it was touched: /proc/self/maps and pagemap.
 *
 * Mainly for the child of a leak check, where the mappings are those of the parent and do not
 * change. Memory comes from the kernel and is kept for the child's short life.
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

struct procmaps {
    struct mapping *mapping; /* ascending */
    uint32_t count;
};

/* Reads /proc/self/maps. False: the file cannot be read, or there is no memory. */
bool procmaps_read(struct procmaps *out);
/* Parses one line, NUL-terminated, without its newline; out->path points into it. */
bool procmaps_parse_line(const char *line, struct mapping *out);
/* Private writable memory that belongs to no file. */
bool procmaps_is_anonymous(const struct mapping *mapping);
/* Visits one mapping after the other, in the caller's memory and without a lock: for the handler of
 * a fatal signal. A line longer than size is skipped. False: the file cannot be read. */
bool procmaps_each(char *buffer, size_t size,
                   void (*visit)(const struct mapping *mapping, void *context), void *context);
/* The mapping that contains an address, or NULL. */
const struct mapping *procmaps_find(const struct procmaps *maps, uintptr_t address);

/* A descriptor of /proc/self/pagemap; < 0: it cannot be read. */
int pagemap_open(void);
/* The entries of the pages from an address to the end, at most so many. Returns how many. Where they
 * cannot be read all pages count as touched. */
size_t pagemap_read(int pagemap, uintptr_t at, uintptr_t end, uint64_t *entry, size_t most);
#define PAGE_IS_GUARD (1ull << 58) /* Linux 6.15 */

/* The page is present or swapped out, and no guard (MADV_GUARD_INSTALL), which looks like one that is swapped out
 * and kills who reads it. */
static inline bool pagemap_is_touched(uint64_t entry)
{
    return entry >> 62 && !(entry & PAGE_IS_GUARD);
}

#endif
