/* roots.h - finds the roots, with which marking begins: all memory that may contain pointers and
 * is no heap.
 *
 *     globals    writable segments of objects, and what the loader made read-only (RELRO); in those
 *                of libc only pointers to the start of a block count, because malloc's own
 *                variables there point to headers of chunks, in front of the blocks
 *     stacks     from just below the stack pointer to the end, without the unused part
 *     tls, anon  other private writable memory that is no heap; private mappings of files
 *     registers
 *
 * A range of a heap that could not be divided into chunks is a root as well. */
#ifndef SCAN_ROOTS_H
#define SCAN_ROOTS_H

#include "scan/heap/glibc_heap.h"

struct root_range {
    uint64_t start, end; /* multiples of the size of the program's words */
    bool starts_only;
};

struct roots {
    struct image *image;
    struct root_range *ranges;
    size_t count, capacity;
    uint64_t bytes;
};

void roots_find(struct roots *roots, struct image *image, const struct objects *objects,
                const struct glibc_heap *heap);
void roots_end(struct roots *roots);

/* Calls visit for pieces of all ranges and for the registers of each thread. starts_only: only
 * pointers to the start of a block count. */
typedef void roots_visit(void *context, const uint64_t *words, size_t count, bool starts_only);
void roots_each(const struct roots *roots, roots_visit *visit, void *context);

#endif
