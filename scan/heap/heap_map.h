/* heap_map.h - the chunks of glibc's malloc, and the chunk that an address refers to.
 *
 * A region is a range of addresses that malloc has divided into chunks without a gap: a part of an
 * arena's heap, or one chunk that has a mapping of its own. Each chunk has a header of two words,
 * of 8 bytes each, or of 4 in a 32-bit program:
 *
 *     chunk.address            size of the chunk before, if that is free
 *     chunk.address + word     size of this chunk, and three flags: the chunk before is in use (1),
 *                              this one has a mapping of its own (2), it is of another arena than
 *                              main_arena (4)
 *     chunk.address + 2 words  what malloc returned: the block, up to chunk.address + size + word
 *
 * Blocks begin at multiples of 16, so in a 32-bit program chunks begin 8 bytes before a multiple of
 * 16.
 *
 * The flags of the next chunk show whether a chunk is free. Chunks in thread caches (tcache) and
 * fast bins look like chunks in use; free_lists.h finds them.
 *
 * The number of a chunk is its index in heap_map.chunk[].
 *
 *     regions are sorted and do not overlap; the chunks of a region are sorted and adjacent
 *     region.start <= chunk.address, chunk.address + size <= region.stop <= region.end */
#ifndef SCAN_HEAP_MAP_H
#define SCAN_HEAP_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CHUNK_NONE UINT32_MAX
/* Addresses of blocks are multiples of this number of bytes, and so are sizes of chunks except that
 * of the top chunk. */
#define CHUNK_ALIGN 16u

#define CHUNK_PREVIOUS_IN_USE 1u
#define CHUNK_MAPPED 2u
#define CHUNK_OTHER_ARENA 4u

enum chunk_state {
    CHUNK_USED,
    CHUNK_FREE,   /* in an unsorted, small or large bin */
    CHUNK_FAST,   /* in a fast bin */
    CHUNK_CACHED, /* in a thread's cache (tcache) */
    CHUNK_TOP,    /* the unused rest at the end of the heap */
    CHUNK_OWN,    /* the block that contains a thread's cache */
    CHUNK_STATES
};

struct chunk {
    uint64_t address;
    uint64_t size_and_state; /* a size is a multiple of 8, so the state is in its low bits */
};

struct chunk_region {
    uint64_t start, end, stop; /* [stop, end) could not be divided into chunks: it is damaged, or
                                * not malloc's */
    const uint8_t *bytes;      /* the memory of [start, end) */
    uint64_t top;              /* address of the top chunk, the last one; 0: it is not in this
                                * region */
    uint32_t arena;
    bool mapped, damaged;
    /* number of the region's first chunk, and how many chunks the region has */
    uint32_t first, count;
    uint32_t *index; /* for each CHUNK_STEP bytes of the region the chunk around the first
                            * of them */
};

struct heap_map {
    unsigned word; /* size in bytes of the program's words, 8 or 4 */
    struct chunk_region *regions;
    size_t region_count, region_capacity;
    struct chunk *chunk;
    size_t count, capacity;
    uint64_t low, high; /* lowest and highest address of all regions */
};

/* Frees a map and leaves it empty. */
void heap_map_end(struct heap_map *chunks);

/* Adds a region, which heap_map_walk() divides into chunks up to region->top, to the heap's end,
 * or to an invalid header. */
void heap_map_add_region(struct heap_map *chunks, const struct chunk_region *region);
/* Sorts the regions and divides them into chunks. Drops a region that overlaps an earlier one. */
void heap_map_walk(struct heap_map *chunks);

/* Goes from chunk to chunk, beginning at the address `from`, and returns the address behind the
 * last one; region->top if the chain leads there. visited: NULL, or a bit for each CHUNK_ALIGN
 * bytes of the region; sets the bit of each chunk, and stops at a chunk whose bit is set
 * already. */
uint64_t heap_map_follow(const struct heap_map *chunks, const struct chunk_region *region,
                         uint64_t from, uint8_t *visited);

/* Returns the size in bytes of a chunk's header. */
static inline uint64_t heap_map_header(const struct heap_map *chunks)
{
    return 2 * chunks->word;
}

static inline uint64_t heap_map_least(const struct heap_map *chunks)
{
    return 4 * chunks->word;
}

/* Returns the first address, at or above this one, at which a chunk can begin so that its block is
 * aligned. */
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

/* Returns the address of a chunk's block: the address that malloc returned. */
static inline uint64_t heap_map_block(const struct heap_map *chunks, uint32_t number)
{
    return chunks->chunk[number].address + heap_map_header(chunks);
}

/* Returns the region that contains an address; NULL: none. */
const struct chunk_region *heap_map_region(const struct heap_map *chunks, uint64_t address);

/* Returns the size of a block, as malloc_usable_size does. */
uint64_t heap_map_block_size(const struct heap_map *chunks, uint32_t number);
const uint8_t *heap_map_block_bytes(const struct heap_map *chunks, uint32_t number);

/* Returns the chunk whose block an address refers to: the start or the inside of the block, or the
 * byte behind it, except behind a chunk with a mapping of its own. CHUNK_NONE: none. */
uint32_t heap_map_find(const struct heap_map *chunks, uint64_t address);
/* Returns the chunk whose header is at an address. CHUNK_NONE: none. */
uint32_t heap_map_at(const struct heap_map *chunks, uint64_t address);

/* Says whether the invariants of a map hold, for tests. */
bool heap_map_check(const struct heap_map *chunks);

#endif
