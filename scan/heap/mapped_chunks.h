/* mapped_chunks.h - finds chunks to which malloc gave a mapping of their own because they are
 * large.
 *
 * No list contains them, so they are found by their headers. A header is at the beginning of a
 * page: the word before the size is 0, the size is a number of whole pages (since glibc 2.43:
 * less the two words of a next header), and of the flags only CHUNK_MAPPED is set. In a 32-bit
 * program it is 8 bytes later, so that the block is aligned, and the word before the size is 8.
 * An aligned block (memalign) has a second header just before it, whose first word is the
 * distance from the beginning of the mapping; this header is the valid one. The kernel joins
 * neighbouring mappings, so several chunks may follow one another. */
#ifndef SCAN_MAPPED_CHUNKS_H
#define SCAN_MAPPED_CHUNKS_H

#include "scan/heap/heap_map.h"
#include "scan/image/image.h"

/* Adds to `found` a region for each chunk that has a mapping of its own: in private anonymous
 * writable mappings, outside of stacks and of the regions in `known` (for which heap_map_walk was
 * called). False: no memory. */
bool mapped_chunks_add(struct image *image, const struct heap_map *known, struct heap_map *found);

/* A mapping [start, end) in which headers are searched. */
struct mapped_range {
    uint64_t start, end;
    unsigned word; /* size in bytes of the program's words, 8 or 4 */
};

/* Checks the two words of a header at an address in the range. Returns the number of bytes from the
 * chunk to the end of its mapping, and sets *before to the number of bytes from the beginning of
 * the mapping to the chunk; 0: the words are no header. */
uint64_t mapped_chunk_size(const struct mapped_range *range, uint64_t address,
                           const uint64_t words[2], uint64_t *before);

#endif
