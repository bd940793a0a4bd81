/* mapped_chunks.h - chunks that malloc gave a mapping of their own, because they are large.
 *
 * Nothing lists them; their headers tell. A header stands at the beginning of a page (in a 32-bit
 * program 8 bytes later, so that the block is aligned): the word before the size is 0 (8 there), the size is a number of whole pages (since glibc 2.43: less the 16 bytes that
 * the next header would have), and of the flags only CHUNK_MAPPED is set. Of a block with an alignment (memalign) a second header stands in front of the block; its
 * first word is the distance from the beginning of the mapping, and it is the one that counts. The
 * kernel joins neighbouring mappings, so several chunks may follow one another.
 */
#ifndef SCAN_MAPPED_CHUNKS_H
#define SCAN_MAPPED_CHUNKS_H

#include "scan/heap/heap_map.h"
#include "scan/image/image.h"

/* Adds a region for each, in private anonymous writable mappings outside of the regions that are
 * there already (sorted, heap_map_walk was called) and of stacks. False: no memory. */
bool mapped_chunks_add(struct image *image, const struct heap_map *known, struct heap_map *found);

/* A mapping [start, end), in which headers of two such words are looked for. */
struct mapped_range {
    uint64_t start, end;
    unsigned word; /* bytes: 8 or 4 */
};

/* The header in the two words at an address of a mapping: the bytes from the chunk to the end of its
 * mapping, and *before, the bytes of its mapping in front of it; 0: it is no header. */
uint64_t mapped_chunk_size(const struct mapped_range *range, uint64_t address,
                           const uint64_t words[2], uint64_t *before);

#endif
