/* heap_map.h - the chunks of glibc's malloc, and which of them an address refers to.
 *
 * A region is a range of addresses that malloc has divided into chunks without a gap: a part of an
 * arena's heap, or one chunk that has a mapping of its own. Each chunk has a header of two words,
 * of 8 bytes each, or of 4 in a 32-bit program:
 *
 *     chunk.address            size of the chunk before, if that is free
 *     chunk.address + word     size of this chunk, and three flags: the chunk before is in use (1),
 *                              it has a mapping of its own (2), it is of another arena than main (4)
 *     chunk.address + 2 words  what malloc returned: the block, up to chunk.address + size + word
 *
 * Blocks are at multiples of 16, so with words of 4 bytes chunks are not.
 *
 * So a free chunk is known from the chunk behind it. Chunks in the caches of malloc (tcache, fast
 * bins) look like ones in use; free_lists.h finds them.
 *
 *     regions are sorted and do not overlap; the chunks of a region are sorted and adjacent
 *     region.start <= chunk.address, chunk.address + size <= region.stop <= region.end
 */
#ifndef SCAN_HEAP_MAP_H
#define SCAN_HEAP_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CHUNK_NONE UINT32_MAX
#define CHUNK_ALIGN 16u /* of blocks, and of sizes of chunks but the top */

#define CHUNK_PREVIOUS_IN_USE 1u
#define CHUNK_MAPPED 2u
#define CHUNK_OTHER_ARENA 4u

enum chunk_state {
    CHUNK_USED,
    CHUNK_FREE,   /* in a bin: unsorted, small or large */
    CHUNK_FAST,   /* in a fast bin */
    CHUNK_CACHED, /* in a thread's cache (tcache) */
    CHUNK_TOP,    /* the rest at the end of the heap */
    CHUNK_OWN,    /* a thread's cache itself */
    CHUNK_STATES
};

struct chunk {
    uint64_t address;
    uint64_t size_and_state; /* a size is a multiple of 8 */
};

struct chunk_region {
    uint64_t start, end, stop; /* [stop, end) is not understood: damaged, or not malloc's */
    const uint8_t *bytes;      /* of [start, end) */
    uint64_t top;              /* the top chunk, where the walk ends; 0: it is not here */
    uint32_t arena;
    bool mapped, damaged;
    uint32_t first, count; /* chunks */
    uint32_t *index;       /* of each CHUNK_STEP bytes: the chunk around the first of them */
};

struct heap_map {
    unsigned word; /* bytes: 8 or 4 */
    struct chunk_region *regions;
    size_t region_count, region_capacity;
    struct chunk *chunk;
    size_t count, capacity;
    uint64_t low, high; /* of all regions */
};

void heap_map_end(struct heap_map *chunks); /* leaves it empty */

/* The walk stops at region->top, at a mark of the heap's end, or where a header cannot be right. */
void heap_map_add_region(struct heap_map *chunks, const struct chunk_region *region);
/* Sorts the regions and walks through them; regions that overlap an earlier one are dropped. */
void heap_map_walk(struct heap_map *chunks);

/* The address behind the last chunk of a chain that begins at `from`; == top when the chain leads
 * there. visited: NULL, or a bit for each CHUNK_ALIGN bytes of the region; each place on the way is
 * set there, and the chain ends at one that is set already. */
uint64_t heap_map_follow(const struct heap_map *chunks, const struct chunk_region *region,
                         uint64_t from, uint8_t *visited);

/* Bytes of a chunk's header, and of the smallest chunk. */
static inline uint64_t heap_map_header(const struct heap_map *chunks)
{
    return 2 * chunks->word;
}

static inline uint64_t heap_map_least(const struct heap_map *chunks)
{
    return 4 * chunks->word;
}

/* The first chunk whose block is aligned, at an address or above. */
static inline uint64_t heap_map_align(const struct heap_map *chunks, uint64_t address)
{
    uint64_t block = address + heap_map_header(chunks);

    return ((block + CHUNK_ALIGN - 1) & -(uint64_t)CHUNK_ALIGN) - heap_map_header(chunks);
}

static inline uint64_t chunk_size(const struct chunk *chunk)
{
    return chunk->size_and_state & ~(uint64_t)7;
}

static inline enum chunk_state chunk_state(const struct chunk *chunk)
{
    return (enum chunk_state)(chunk->size_and_state & 7);
}

static inline void chunk_set_state(struct chunk *chunk, enum chunk_state state)
{
    chunk->size_and_state = chunk_size(chunk) | state;
}

/* What malloc returned. */
static inline uint64_t heap_map_block(const struct heap_map *chunks, uint32_t number)
{
    return chunks->chunk[number].address + heap_map_header(chunks);
}

/* The region of an address; NULL: none. */
const struct chunk_region *heap_map_region(const struct heap_map *chunks, uint64_t address);

/* Bytes of the block: those that malloc_usable_size tells. */
uint64_t heap_map_block_size(const struct heap_map *chunks, uint32_t number);
const uint8_t *heap_map_block_bytes(const struct heap_map *chunks, uint32_t number);

/* The chunk whose block an address refers to: the start or the inside of the block, or the byte
 * behind it, which does not count when the chunk has a mapping of its own. CHUNK_NONE: none. */
uint32_t heap_map_find(const struct heap_map *chunks, uint64_t address);
/* The chunk whose header is at an address. CHUNK_NONE: none. */
uint32_t heap_map_at(const struct heap_map *chunks, uint64_t address);

/* The invariants above. */
bool heap_map_check(const struct heap_map *chunks);

#endif
