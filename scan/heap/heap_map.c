/* heap_map.c - divides regions of memory into the chunks of malloc, and finds the chunk of an
 * address. */
#include "scan/heap/heap_map.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/arena.h"
#include "scan/image/image.h"

#define CHUNK_STEP 256u
#define CHUNKS_MOST (CHUNK_NONE - 1u)

static uint64_t word_at(const struct heap_map *chunks, const struct chunk_region *region,
                        uint64_t address)
{
    return address >= region->start && address <= region->end &&
                   region->end - address >= chunks->word
               ? image_word(region->bytes + (address - region->start), chunks->word)
               : 0;
}

void heap_map_end(struct heap_map *chunks)
{
    for (size_t i = 0; i < chunks->region_count; i++)
        free(chunks->regions[i].index);
    free(chunks->regions);
    free(chunks->chunk);
    *chunks = (struct heap_map){0};
}

void heap_map_add_region(struct heap_map *chunks, const struct chunk_region *region)
{
    chunks->regions = array_grow(chunks->regions, &chunks->region_capacity,
                                 chunks->region_count + 1, sizeof(*region));
    chunks->regions[chunks->region_count++] = *region;
}

/* ---- Dividing regions into chunks ------------------------------------------------------------ */

enum header { HEADER_CHUNK, HEADER_LAST, HEADER_WRONG };

/* Reads the header of a chunk. HEADER_LAST: the fence that malloc leaves at the end of a full
 * heap. */
static enum header read_header(const struct heap_map *chunks, const struct chunk_region *region,
                               uint64_t at, uint64_t *size)
{
    uint64_t word = word_at(chunks, region, at + chunks->word), bytes = heap_map_header(chunks);

    *size = word & ~(uint64_t)7;
    if (region->mapped)
        return at == region->start && (word & 7) == CHUNK_MAPPED &&
                       (*size == region->end - at || *size + bytes == region->end - at)
                   ? HEADER_CHUNK
                   : HEADER_WRONG;
    if (region->end - at < bytes)
        return HEADER_LAST;
    if (at > region->start && (*size == bytes || !*size))
        return HEADER_LAST;
    if (word & CHUNK_MAPPED || *size < heap_map_least(chunks) || *size > region->end - at ||
        (*size % CHUNK_ALIGN && at != region->top))
        return HEADER_WRONG;
    return HEADER_CHUNK;
}

/* Marks the address "at" as visited. True: it was visited before. */
static bool visit(const struct chunk_region *region, uint64_t at, uint8_t *visited)
{
    uint64_t bit = (at - region->start) / CHUNK_ALIGN;
    bool was = visited && (visited[bit / 8] >> bit % 8 & 1);

    if (visited)
        visited[bit / 8] |= (uint8_t)(1u << bit % 8);
    return was;
}

uint64_t heap_map_follow(const struct heap_map *chunks, const struct chunk_region *region,
                         uint64_t from, uint8_t *visited)
{
    uint64_t at = from, size;

    while (at < region->end && at != region->top && !visit(region, at, visited) &&
           read_header(chunks, region, at, &size) == HEADER_CHUNK)
        at += size;
    return at;
}

static void add_chunk(struct heap_map *chunks, uint64_t address, uint64_t size,
                      enum chunk_state state)
{
    chunks->chunk =
        array_grow(chunks->chunk, &chunks->capacity, chunks->count + 1, sizeof(*chunks->chunk));
    chunks->chunk[chunks->count++] =
        (struct chunk){.address = address, .size_and_state = size | state};
}

static enum chunk_state state_of(const struct heap_map *chunks, const struct chunk_region *region,
                                 uint64_t at, uint64_t size)
{
    if (region->mapped)
        return CHUNK_USED;
    if (at == region->top)
        return CHUNK_TOP;
    /* The header of the next chunk shows whether a chunk is free; at the end of the region there is
     * no next chunk, so the last one counts as used. */
    if (region->end - at - size < heap_map_header(chunks))
        return CHUNK_USED;
    return word_at(chunks, region, at + size + chunks->word) & CHUNK_PREVIOUS_IN_USE ? CHUNK_USED
                                                                                     : CHUNK_FREE;
}

static void walk_region(struct heap_map *chunks, struct chunk_region *region)
{
    uint64_t at = region->start, size;
    enum header header = HEADER_CHUNK;

    region->first = (uint32_t)chunks->count;
    while (at < region->end && chunks->count < CHUNKS_MOST &&
           (header = read_header(chunks, region, at, &size)) == HEADER_CHUNK) {
        bool top = at == region->top;

        add_chunk(chunks, at, size, state_of(chunks, region, at, size));
        at += size;
        if (top)
            break;
    }
    /* a heap with a top chunk never ends before that chunk */
    region->damaged = header == HEADER_WRONG || (header == HEADER_LAST && region->top);
    region->stop = header == HEADER_LAST && !region->damaged ? region->end : at;
    region->count = (uint32_t)(chunks->count - region->first);
}

static bool make_index(const struct heap_map *chunks, struct chunk_region *region)
{
    size_t steps = (region->end - region->start) / CHUNK_STEP + 1;
    uint32_t number = region->first, last = region->first + region->count;

    if (region->count < 2)
        return true;
    region->index = malloc(steps * sizeof(*region->index));
    for (size_t i = 0; region->index && i < steps; i++) {
        uint64_t address = region->start + i * CHUNK_STEP;

        while (number + 1 < last && chunks->chunk[number + 1].address <= address)
            number++;
        region->index[i] = number;
    }
    return region->index;
}

static int compare_regions(const void *one, const void *other)
{
    return COMPARE(((const struct chunk_region *)one)->start,
                   ((const struct chunk_region *)other)->start);
}

void heap_map_walk(struct heap_map *chunks)
{
    size_t kept = 0;

    if (chunks->region_count)
        qsort(chunks->regions, chunks->region_count, sizeof(*chunks->regions), compare_regions);
    for (size_t i = 0; i < chunks->region_count; i++)
        if (!kept || chunks->regions[kept - 1].end <= chunks->regions[i].start)
            chunks->regions[kept++] = chunks->regions[i];
    chunks->region_count = kept;
    for (size_t i = 0; i < kept; i++) {
        struct chunk_region *region = &chunks->regions[i];

        walk_region(chunks, region);
        if (!make_index(chunks, region))
            region->count = 0;
    }
    chunks->low = kept ? chunks->regions[0].start : 0;
    chunks->high = kept ? chunks->regions[kept - 1].end : 0;
}

/* ---- Searches by address --------------------------------------------------------------------- */

static bool region_ends_below(const void *item, const void *key)
{
    return ((const struct chunk_region *)item)->end <= *(const uint64_t *)key;
}

const struct chunk_region *heap_map_region(const struct heap_map *chunks, uint64_t address)
{
    size_t i;

    if (address < chunks->low || address >= chunks->high)
        return NULL;
    i = array_lower_bound(chunks->regions, chunks->region_count, sizeof(*chunks->regions),
                          region_ends_below, &address);
    return i < chunks->region_count && chunks->regions[i].start <= address ? &chunks->regions[i]
                                                                           : NULL;
}

/* Returns the number of the last chunk in a region that begins at or below an address. */
static uint32_t chunk_around(const struct heap_map *chunks, const struct chunk_region *region,
                             uint64_t address)
{
    uint32_t last = region->first + region->count, number;

    if (!region->count)
        return CHUNK_NONE;
    number = region->index ? region->index[(address - region->start) / CHUNK_STEP] : region->first;
    while (number + 1 < last && chunks->chunk[number + 1].address <= address)
        number++;
    return chunks->chunk[number].address <= address ? number : CHUNK_NONE;
}

static bool region_is_mapped(const struct heap_map *chunks, const struct chunk *chunk)
{
    const struct chunk_region *region = heap_map_region(chunks, chunk->address);

    return region && region->mapped;
}

uint64_t heap_map_block_size(const struct heap_map *chunks, uint32_t number)
{
    const struct chunk *chunk = &chunks->chunk[number];
    const struct chunk_region *region = heap_map_region(chunks, chunk->address);
    bool whole =
        region_is_mapped(chunks, chunk) && chunk->address + chunk_size(chunk) == region->end;
    uint64_t size = chunk_size(chunk) - (whole ? heap_map_header(chunks) : chunks->word);

    /* The last word of a block is in the next chunk, which may be outside of the region. */
    if (region && size > region->end - heap_map_block(chunks, number))
        size = region->end - heap_map_block(chunks, number);
    return size;
}

const uint8_t *heap_map_block_bytes(const struct heap_map *chunks, uint32_t number)
{
    const struct chunk *chunk = &chunks->chunk[number];
    const struct chunk_region *region = heap_map_region(chunks, chunk->address);

    return region->bytes + (heap_map_block(chunks, number) - region->start);
}

uint32_t heap_map_find(const struct heap_map *chunks, uint64_t address)
{
    /* A block ends one word behind its chunk, and the byte behind the block may be in no region. */
    const struct chunk_region *region;
    uint64_t around = address - heap_map_header(chunks), end;
    uint32_t number;

    if (around < chunks->low || around >= chunks->high)
        return CHUNK_NONE;
    region = heap_map_region(chunks, around);
    if (!region)
        return CHUNK_NONE;
    number = chunk_around(chunks, region, around);
    if (number == CHUNK_NONE)
        return CHUNK_NONE;
    /* A chunk with a mapping of its own is rounded up to pages: memory behind it is unrelated. */
    end = chunks->chunk[number].address + chunk_size(&chunks->chunk[number]);
    end += region->mapped && end == region->end ? 0 : chunks->word;
    return address < end + !region->mapped ? number : CHUNK_NONE;
}

uint32_t heap_map_at(const struct heap_map *chunks, uint64_t address)
{
    const struct chunk_region *region = heap_map_region(chunks, address);
    uint32_t number = region ? chunk_around(chunks, region, address) : CHUNK_NONE;

    return number != CHUNK_NONE && chunks->chunk[number].address == address ? number : CHUNK_NONE;
}

bool heap_map_check(const struct heap_map *chunks)
{
    for (size_t i = 0; i < chunks->region_count; i++) {
        const struct chunk_region *region = &chunks->regions[i];
        uint64_t at = region->start;

        if (region->stop > region->end || (i && region[-1].end > region->start))
            return false;
        for (uint32_t n = region->first; n < region->first + region->count; n++) {
            if (chunks->chunk[n].address != at)
                return false;
            at += chunk_size(&chunks->chunk[n]);
        }
        if (at > region->stop)
            return false;
    }
    return true;
}
