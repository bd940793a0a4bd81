/* procmaps.h - tells which memory is mapped, and which of its pages were ever touched, from
 * /proc/self/maps and /proc/self/pagemap.
 *
 * Used mainly in the child process of a leak check, a copy of the program whose mappings do not
 * change. The memory for the list is taken from the kernel and never freed, because the child ends
 * soon.
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
    struct mapping *mapping; /* in ascending order of addresses */
    uint32_t count;
};

/* Reads /proc/self/maps. False: the file cannot be read, or there is no memory. */
bool procmaps_read(struct procmaps *out);
/* Parses one line, NUL-terminated, without its newline; out->path points into the line. False: the
 * line has another form. */
bool procmaps_parse_line(const char *line, struct mapping *out);
/* Says whether a mapping is private writable memory that belongs to no file. */
bool procmaps_is_anonymous(const struct mapping *mapping);
/* Visits the mappings one after the other. It uses only the caller's buffer and takes no lock, so
 * the handler of a fatal signal may call it. A line longer than "size" is skipped. False: the file
 * cannot be read. */
bool procmaps_each(char *buffer, size_t size,
                   void (*visit)(const struct mapping *mapping, void *context), void *context);
const struct mapping *procmaps_find(const struct procmaps *maps, uintptr_t address);

/* Returns a descriptor of /proc/self/pagemap; < 0: the file cannot be opened. */
int pagemap_open(void);
/* Reads the pagemap entries of the pages between two addresses, at most "most" entries. Returns
 * their number. Pages whose entries cannot be read count as touched. */
size_t pagemap_read(int pagemap, uintptr_t at, uintptr_t end, uint64_t *entry, size_t most);
#define PAGE_IS_GUARD (1ull << 58) /* bit of a pagemap entry, since Linux 6.15 */

/* Says whether a page was ever touched: it is present or swapped out. A guard page
 * (MADV_GUARD_INSTALL) looks swapped out, but reading it kills the process, so it does not count. */
static inline bool pagemap_is_touched(uint64_t entry)
{
    return entry >> 62 && !(entry & PAGE_IS_GUARD);
}

#endif
