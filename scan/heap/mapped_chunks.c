/* mapped_chunks.c - finds chunks that have a mapping of their own. */
#include "scan/heap/mapped_chunks.h"

#include <stdlib.h>
#include <string.h>

#define PIECE (1u << 20)
/* Bit in the first word of a header, since glibc 2.43: the mapping has huge pages. */
#define MAPPED_HUGE 1u

uint64_t mapped_chunk_size(const struct mapped_range *range, uint64_t address,
                           const uint64_t words[2], uint64_t *before)
{
    const uint64_t header = 2 * range->word;
    uint64_t size = words[1] & ~(uint64_t)7;
    bool tail = (address + size + header) % IMAGE_PAGE == 0;

    *before = tail ? words[0] & ~(uint64_t)MAPPED_HUGE : words[0];
    size += tail ? header : 0;
    if ((words[1] & 7) != CHUNK_MAPPED || *before > address - range->start ||
        size > range->end - address || size < 4 * header || (address + header) % CHUNK_ALIGN)
        return 0;
    /* The mapping begins and ends at multiples of the page size. */
    return (address - *before) % IMAGE_PAGE == 0 && (address + size) % IMAGE_PAGE == 0 ? size : 0;
}

struct search {
    struct image *image;
    struct heap_map *found;
    struct mapped_range range; /* part of the mapping that is outside of all known regions (struct
                                * chunk_region) */
    uint8_t *piece;            /* copy of the memory from piece_start to piece_end */
    uint64_t piece_start, piece_end;
};

static uint64_t header_bytes(const struct search *search)
{
    return 2 * search->range.word;
}

static const uint64_t *words_at(struct search *search, uint64_t address, uint64_t words[2])
{
    const uint8_t *at;

    if (address < search->piece_start || address + header_bytes(search) > search->piece_end) {
        uint64_t start = address & -(uint64_t)IMAGE_PAGE;

        search->piece_start = start;
        search->piece_end = search->range.end - start < PIECE ? search->range.end : start + PIECE;
        image_read_pages(search->image, start, search->piece, search->piece_end - start);
    }
    at = search->piece + (address - search->piece_start);
    words[0] = image_word(at, search->range.word);
    words[1] = image_word(at + search->range.word, search->range.word);
    return words;
}

static bool add_region(struct search *search, uint64_t address, uint64_t size)
{
    struct chunk_region region = {.start = address, .end = address + size, .mapped = true};

    region.bytes = image_keep(search->image, region.start, region.end);
    if (!region.bytes)
        return false;
    heap_map_add_region(search->found, &region);
    return true;
}

/* Finds the second header of an aligned block (memalign) in the mapping that begins at `page`: two
 * words before a multiple of some power of 2. Sets *address to it, and returns the chunk's size
 * (see mapped_chunk_size()); 0: the mapping has only the header at its beginning. */
static uint64_t find_aligned(struct search *search, uint64_t page, uint64_t *address)
{
    uint64_t words[2], before, size;

    for (uint64_t alignment = 2 * CHUNK_ALIGN; alignment < search->range.end - page;
         alignment *= 2) {
        uint64_t block = (page + CHUNK_ALIGN + alignment - 1) & -alignment;

        *address = block - header_bytes(search);
        if (block == page + CHUNK_ALIGN || block >= search->range.end)
            continue;
        size =
            mapped_chunk_size(&search->range, *address, words_at(search, *address, words), &before);
        if (size && before == *address - page)
            return size;
    }
    return 0;
}

static uint64_t find_header(struct search *search, uint64_t page, uint64_t *address)
{
    uint64_t first = page + CHUNK_ALIGN - header_bytes(search), words[2], before, size, aligned;

    size = mapped_chunk_size(&search->range, first, words_at(search, first, words), &before);
    if (!size || before != first - page)
        return 0;
    aligned = find_aligned(search, page, address);
    if (!aligned)
        *address = first;
    return aligned ? aligned : size;
}

static bool search_range(struct search *search)
{
    for (uint64_t page = search->range.start; page < search->range.end;) {
        uint64_t address, size = find_header(search, page, &address);

        if (size && !add_region(search, address, size))
            return false;
        page = size ? address + size : page + IMAGE_PAGE;
    }
    return true;
}

/* Says whether a mapping is a thread's stack, whose words may look like headers by chance. */
static bool is_stack(const struct image *image, const struct image_mapping *mapping)
{
    for (size_t i = 0; i < image->thread_count; i++)
        if (image->threads[i].sp >= mapping->start && image->threads[i].sp < mapping->end &&
            image->threads[i].tls >= mapping->start && image->threads[i].tls < mapping->end)
            return true;
    return image->main_stack >= mapping->start && image->main_stack < mapping->end;
}

static bool search_mapping(struct search *search, const struct image_mapping *mapping,
                           const struct heap_map *known)
{
    uint64_t at = mapping->start;
    bool good = true;

    for (size_t i = 0; good && i <= known->region_count; i++) {
        const struct chunk_region *region = i < known->region_count ? &known->regions[i] : NULL;

        if (region && (region->end <= at || region->start >= mapping->end))
            continue;
        search->range.start = (at + IMAGE_PAGE - 1) & -(uint64_t)IMAGE_PAGE;
        search->range.end = region ? region->start & -(uint64_t)IMAGE_PAGE : mapping->end;
        search->piece_end = 0;
        good = search->range.start >= search->range.end || search_range(search);
        at = region ? region->end : mapping->end;
    }
    return good;
}

bool mapped_chunks_add(struct image *image, const struct heap_map *known, struct heap_map *found)
{
    struct search search = {
        .image = image, .found = found, .range.word = known->word, .piece = malloc(PIECE)};
    bool good = search.piece != NULL;

    for (size_t i = 0; good && i < image->mapping_count; i++) {
        const struct image_mapping *mapping = &image->mappings[i];

        if ((mapping->access & (IMAGE_READ | IMAGE_WRITE)) == (IMAGE_READ | IMAGE_WRITE) &&
            !mapping->shared && (!mapping->path || mapping->path[0] != '/') &&
            !is_stack(image, mapping))
            good = search_mapping(&search, mapping, known);
    }
    free(search.piece);
    return good;
}
