/* glibc_heap.c - finds the arenas of glibc's malloc in memory, and reads their heaps. */
#include "scan/heap/glibc_heap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scan/heap/mapped_chunks.h"

#define BINS 127
#define BINMAP 16      /* size of an arena's binmap in bytes */
#define EMPTY_LEAST 16 /* memory with fewer empty bins does not count as an arena */

#define ARENAS_MOST 65536
#define HEAPS_MOST 65536
#define HEAP_LEAST (1ull << 21) /* the least size of which a heap's address is a multiple */
#define HEAP_USUAL(word) ((word) == 4 ? 1ull << 20 : 1ull << 26)
#define HEAP_MOST (1ull << 36)

#define PIECE (1u << 20)
#define LIBC_MOST (1u << 26) /* most bytes of libc's read-only data that are searched */

/* ---- The layouts of an arena ----------------------------------------------------------------- */

/* For each size of words: the layout in glibc 2.27 to 2.42, then the one in 2.43. */
static const struct arena_layout layouts[] = {
    {.word = 8, .fast = 16, .fast_bins = 10, .bins = 112},
    {.word = 8, .bins = 24},
    {.word = 4, .fast = 12, .fast_bins = 11, .bins = 64},
    {.word = 4, .bins = 16},
};
#define LAYOUTS (sizeof(layouts) / sizeof(*layouts))
#define ARENA_MOST 2200u /* bytes of the largest struct malloc_state */

static unsigned offset_of_pair(const struct arena_layout *layout, unsigned bin)
{
    return layout->bins + 2 * layout->word * (bin - 1);
}

static unsigned offset_of_next(const struct arena_layout *layout)
{
    return offset_of_pair(layout, BINS + 1) + BINMAP;
}

static unsigned offset_of_system(const struct arena_layout *layout)
{
    return offset_of_next(layout) + 3 * layout->word;
}

static unsigned offset_of_top(const struct arena_layout *layout)
{
    return layout->bins - 2 * layout->word;
}

uint64_t glibc_heap_arena_size(const struct arena_layout *layout)
{
    return offset_of_system(layout) + 2 * layout->word;
}

/* ---- Searching main_arena -------------------------------------------------------------------- */

/* The memory where an arena may be, with the layout to read it by. */
struct arena_bytes {
    const struct arena_layout *layout;
    uint64_t address;
    uint8_t bytes[ARENA_MOST];
};

static uint64_t arena_word(const struct arena_bytes *arena, unsigned offset)
{
    return image_word(arena->bytes + offset, arena->layout->word);
}

/* Says whether bin i (1 to BINS) is empty: then both its pointers have the address two words before
 * the pair (glibc_heap.h). */
static bool bin_is_empty(const struct arena_bytes *arena, unsigned bin)
{
    unsigned word = arena->layout->word, pair = offset_of_pair(arena->layout, bin);

    return arena_word(arena, pair) == arena->address + pair - 2 * word &&
           arena_word(arena, pair + word) == arena->address + pair - 2 * word;
}

static bool is_heap_address(uint64_t address, unsigned word)
{
    return address && address < IMAGE_END && address % word == 0;
}

static bool has_heap_address(const struct arena_bytes *arena, unsigned offset)
{
    return is_heap_address(arena_word(arena, offset), arena->layout->word);
}

static bool has_arena_shape(const struct arena_bytes *arena)
{
    const struct arena_layout *layout = arena->layout;
    unsigned empty = 0;

    if (!bin_is_empty(arena, BINS) || !has_heap_address(arena, offset_of_top(layout)) ||
        !has_heap_address(arena, offset_of_next(layout)))
        return false;
    for (unsigned i = 1; i <= BINS; i++) {
        unsigned pair = offset_of_pair(layout, i);

        empty += bin_is_empty(arena, i);
        if (!has_heap_address(arena, pair) || !has_heap_address(arena, pair + layout->word))
            return false;
    }
    return empty >= EMPTY_LEAST;
}

static bool read_arena(struct image *image, uint64_t address, const struct arena_layout *layout,
                       struct heap_arena *arena, uint64_t *next)
{
    struct arena_bytes read = {.layout = layout, .address = address};

    if (address % layout->word ||
        !image_read(image, address, read.bytes, glibc_heap_arena_size(layout)) ||
        !has_arena_shape(&read))
        return false;
    *arena = (struct heap_arena){.address = address,
                                 .top = arena_word(&read, offset_of_top(layout)),
                                 .system_bytes = arena_word(&read, offset_of_system(layout))};
    for (unsigned i = 0; i < layout->fast_bins; i++)
        arena->fast[i] = arena_word(&read, layout->fast + i * layout->word);
    *next = arena_word(&read, offset_of_next(layout));
    return true;
}

static void add_arena(struct glibc_heap *heap, const struct heap_arena *arena)
{
    heap->arenas = array_grow(heap->arenas, &heap->arena_capacity, heap->arena_count + 1,
                              sizeof(*heap->arenas));
    heap->arenas[heap->arena_count++] = *arena;
}

/* Reads all arenas, which form a ring that begins at main_arena. False: the ring does not lead
 * back. */
static bool read_ring(struct glibc_heap *heap, struct image *image, uint64_t first)
{
    struct heap_arena arena;
    uint64_t at = first, next;

    heap->arena_count = 0;
    do {
        if (heap->arena_count == ARENAS_MOST || !read_arena(image, at, heap->layout, &arena, &next))
            return false;
        add_arena(heap, &arena);
        at = next;
    } while (at != first);
    return true;
}

/* Searches main_arena in a piece of memory: tries each place at which the last bin would be empty,
 * and takes the place as an arena if the ring of arenas that begins there leads back to it. */
static bool search_piece(struct glibc_heap *heap, struct image *image, const uint8_t *bytes,
                         uint64_t start, size_t size)
{
    const unsigned word = heap->layout->word, last = offset_of_pair(heap->layout, BINS);

    for (size_t at = last; at + 2 * word <= size; at += 2 * word) {
        uint64_t here = start + at - 2 * word;

        if (image_word(bytes + at, word) == here && image_word(bytes + at + word, word) == here &&
            read_ring(heap, image, start + at - last))
            return true;
    }
    return false;
}

static bool search_range(struct glibc_heap *heap, struct image *image, uint64_t start, uint64_t end)
{
    uint8_t *bytes = malloc(PIECE);
    bool found = false;

    for (uint64_t at = start; bytes && !found && at < end; at += PIECE - 2 * IMAGE_PAGE) {
        size_t size = end - at < PIECE ? end - at : PIECE;

        image_read(image, at, bytes, size);
        found = search_piece(heap, image, bytes, at, size);
    }
    free(bytes);
    return found;
}

static bool search_data(struct glibc_heap *heap, struct image *image, const struct object *object)
{
    for (size_t i = 0; i < image->mapping_count; i++) {
        const struct image_mapping *mapping = &image->mappings[i];
        uint64_t start = mapping->start > object->data_start ? mapping->start
                                                             : object->data_start & ~(uint64_t)15;
        uint64_t end = mapping->end < object->data_end ? mapping->end : object->data_end;

        if ((mapping->access & IMAGE_WRITE) && start < end &&
            search_range(heap, image, start, end)) {
            heap->found_in = object->path;
            return true;
        }
    }
    return false;
}

/* Finds main_arena in an object by its shape alone. Only with the right layout does the ring
 * lead back to the first arena. */
static bool search_object(struct glibc_heap *heap, struct image *image, const struct object *object)
{
    for (size_t i = 0; i < LAYOUTS; i++) {
        heap->layout = &layouts[i];
        if (layouts[i].word == image->word && search_data(heap, image, object))
            return true;
    }
    return false;
}

/* ---- Other allocators ------------------------------------------------------------------------ */

static const struct {
    const char *file, *name;
} others[] = {{"libjemalloc", "jemalloc"},     {"libtcmalloc", "tcmalloc"},
              {"libmimalloc", "mimalloc"},     {"libhoard", "Hoard"},
              {"libsnmalloc", "snmalloc"},     {"libscudo", "Scudo"},
              {"ld-musl-", "musl's malloc"},   {"-linux-musl/", "musl's malloc"},
              {"libasan", "AddressSanitizer"}, {"libtsan", "ThreadSanitizer"},
              {"liblsan", "LeakSanitizer"}};

static bool has_other(const struct object *object, size_t k)
{
    /* Debian calls musl's library .../x86_64-linux-musl/libc.so. */
    return object_is_named(object, others[k].file) ||
           (others[k].file[0] == '-' && strstr(object->path, others[k].file));
}

static const char *find_other(const struct objects *objects)
{
    for (size_t i = 0; i < objects->count; i++)
        for (size_t k = 0; k < sizeof(others) / sizeof(*others); k++)
            if (has_other(&objects->object[i], k))
                return arena_format(objects->image->mem,
                                    "its allocator is %s (%s): only the heap of glibc's malloc "
                                    "can be read",
                                    others[k].name, objects->object[i].path);
    return NULL;
}

/* ---- The version of glibc -------------------------------------------------------------------- */

static const char *search_version(struct image *image, uint64_t start, uint64_t end)
{
    static const char words[] = "GNU C Library ", key[] = " release version ";
    uint8_t *bytes = malloc(PIECE);
    const char *found = NULL;

    for (uint64_t at = start; bytes && !found && at < end; at += PIECE - IMAGE_PAGE) {
        size_t size = end - at < PIECE ? end - at : PIECE;
        const char *text, *number;

        image_read(image, at, bytes, size);
        bytes[size - 1] = 0;
        text = memmem(bytes, size, words, sizeof(words) - 1);
        number = text ? memmem(text, strnlen(text, 200), key, sizeof(key) - 1) : NULL;
        if (number) {
            number += sizeof(key) - 1;
            found = arena_copy(image->mem, number, strspn(number, "0123456789."));
        }
    }
    free(bytes);
    return found;
}

static const char *find_version(struct image *image, const char *path)
{
    const char *found = NULL;

    for (size_t i = 0; !found && i < image->mapping_count; i++) {
        const struct image_mapping *mapping = &image->mappings[i];

        if (mapping->path && strcmp(mapping->path, path) == 0 &&
            (mapping->access & (IMAGE_READ | IMAGE_WRITE)) == IMAGE_READ)
            found = search_version(image, mapping->start,
                                   mapping->end - mapping->start < LIBC_MOST
                                       ? mapping->end
                                       : mapping->start + LIBC_MOST);
    }
    if (found)
        found = arena_copy(image->mem, found,
                           strspn(found, "0123456789.") - (found[strlen(found) - 1] == '.'));
    return found;
}

static bool version_is_known(const char *version)
{
    int major = 0, minor = 0;

    return !version || (sscanf(version, "%d.%d", &major, &minor) == 2 && major == 2 &&
                        minor >= 30 && minor <= 43);
}

static bool find_main_arena(struct glibc_heap *heap, struct objects *objects, const char **trouble)
{
    struct image *image = objects->image;
    const struct object *libc = objects_libc(objects);
    bool found = libc && search_object(heap, image, libc);

    if ((*trouble = find_other(objects)))
        return false;
    for (size_t i = 0; !found && !libc && i < objects->count; i++)
        found = search_object(heap, image, &objects->object[i]);
    heap->version = found || libc ? find_version(image, found ? heap->found_in : libc->path) : NULL;
    if (!version_is_known(heap->version))
        *trouble = arena_format(image->mem,
                                "glibc %s: its malloc is not known, only that of 2.30 to "
                                "2.43",
                                heap->version);
    else if (!found)
        *trouble =
            libc
                ? "no arena of glibc's malloc was found: it was never called (another allocator is "
                  "linked into the program), or its data is damaged"
                : "no glibc in it: a static program with another libc or allocator, or a "
                  "core without the writable data of libc";
    return !*trouble;
}

/* ---- Heaps of arenas ------------------------------------------------------------------------- */

/* Returns the end of the readable and writable memory that begins at an address. */
static uint64_t end_of_memory(const struct image *image, uint64_t address)
{
    const struct image_mapping *mapping;
    uint64_t end = address;

    while ((mapping = image_find(image, end)) && (mapping->access & IMAGE_READ) &&
           (mapping->access & IMAGE_WRITE))
        end = mapping->end;
    return end;
}

static bool add_region(struct glibc_heap *heap, struct image *image, struct chunk_region *region)
{
    region->bytes = image_keep(image, region->start, region->end);
    if (!region->bytes)
        return false;
    heap_map_add_region(&heap->chunks, region);
    return true;
}

static uint64_t size_word(const struct heap_map *chunks, const struct chunk_region *region,
                          uint64_t chunk)
{
    return image_word(region->bytes + (chunk - region->start) + chunks->word, chunks->word);
}

/* Says whether a chain of chunks that ends at `stop` ends as a heap does: at the top chunk, or
 * at the fence that malloc leaves where other code moved the break. */
static bool ends_well(const struct heap_map *chunks, const struct chunk_region *region,
                      uint64_t stop)
{
    return stop == region->top || (stop < region->top && (size_word(chunks, region, stop) &
                                                          ~(uint64_t)1) == heap_map_header(chunks));
}

/* Finds the first chunk at or above `from` whose chain ends well (ends_well); *stop: end of the
 * chain. 0: there is none. No address is visited twice, because the chain from it would end in the
 * same way. */
static uint64_t find_part(const struct heap_map *chunks, const struct chunk_region *region,
                          uint64_t from, uint64_t *stop)
{
    uint64_t at = heap_map_align(chunks, from);
    uint8_t *visited = calloc((region->end - region->start) / CHUNK_ALIGN / 8 + 1, 1);
    bool found = false;

    for (; visited && !found && at < region->top; at += CHUNK_ALIGN) {
        uint64_t header = size_word(chunks, region, at);

        if ((header & CHUNK_PREVIOUS_IN_USE) && header >= heap_map_least(chunks)) {
            *stop = heap_map_follow(chunks, region, at, visited);
            found = ends_well(chunks, region, *stop);
        }
        if (found)
            break;
    }
    free(visited);
    if (!found && visited && at == region->top)
        *stop = region->top;
    return found || (visited && at == region->top) ? at : 0;
}

/* Adds the parts of a heap, one after the other. False: no part leads to the top chunk. */
static bool add_parts(struct glibc_heap *heap, const struct chunk_region *whole)
{
    uint64_t from = whole->start, stop = 0, at;

    while ((at = find_part(&heap->chunks, whole, from, &stop))) {
        struct chunk_region part = *whole;
        bool last = stop == whole->top;

        part.start = at;
        part.bytes += at - whole->start;
        part.end = last ? whole->end : stop + heap_map_header(&heap->chunks);
        part.top = last ? whole->top : 0;
        heap_map_add_region(&heap->chunks, &part);
        if (last)
            return true;
        from = part.end + heap_map_header(&heap->chunks); /* skips the second chunk of the fence */
    }
    return false;
}

/* Adds main_arena's heap, the mapping around its top chunk. If other code has moved the break
 * with sbrk, or a part is damaged, the chain from the start ends early, and later chains cover
 * the rest. */
static void add_main_heap(struct glibc_heap *heap, struct image *image, struct heap_arena *arena)
{
    const struct image_mapping *mapping = image_find(image, arena->top);
    struct chunk_region whole = {.top = arena->top};
    uint64_t header = heap_map_header(&heap->chunks), size;

    if (arena->top == arena->address + offset_of_top(heap->layout)) /* the heap has no chunk yet */
        return;
    arena->broken = true;
    if (!mapping || (arena->top + header) % CHUNK_ALIGN || !(mapping->access & IMAGE_WRITE))
        return;
    while (mapping > image->mappings && mapping[-1].end == mapping->start && !mapping[-1].path &&
           !mapping->path && (mapping[-1].access & IMAGE_WRITE))
        mapping--;
    whole.start = mapping->start;
    whole.end = end_of_memory(image, arena->top);
    if (whole.end - arena->top < header || !image_read_word(image, arena->top + image->word, &size))
        return;
    size &= ~(uint64_t)7;
    if (size >= heap_map_least(&heap->chunks) && size < whole.end - arena->top)
        whole.end = arena->top + size;
    whole.bytes = image_keep(image, whole.start, whole.end);
    arena->broken = !whole.bytes || !add_parts(heap, &whole);
}

/* Returns the start of the heap around an address; 0: there is none. The arena is not main_arena:
 * its heaps begin at multiples of their largest size, with the address of the arena. */
static uint64_t find_heap(struct image *image, const struct heap_arena *arena, uint64_t address,
                          uint64_t largest)
{
    uint64_t base = address & -largest, owner;

    return image_read_word(image, base, &owner) && owner == arena->address ? base : 0;
}

static bool add_heap(struct glibc_heap *heap, struct image *image, struct heap_arena *arena,
                     uint32_t number, uint64_t base, uint64_t first)
{
    struct chunk_region region = {.start = first, .arena = number};
    uint64_t size = 0, end = end_of_memory(image, base);

    image_read_word(image, base + 2 * image->word, &size);
    region.end = size && size <= end - base ? base + size : end;
    if (region.end <= first)
        return false;
    if (arena->top >= first && arena->top < region.end)
        region.top = arena->top;
    return add_region(heap, image, &region);
}

static void add_heaps(struct glibc_heap *heap, struct image *image, uint32_t number)
{
    struct heap_arena *arena = &heap->arenas[number];
    uint64_t home = arena->address & -(uint64_t)IMAGE_PAGE, base;
    uint64_t largest = HEAP_USUAL(image->word);
    uint64_t info = arena->address - home;
    unsigned count = 0;

    if (!find_heap(image, arena, arena->top, largest))
        for (largest = HEAP_LEAST; largest < HEAP_MOST; largest *= 2)
            if (find_heap(image, arena, arena->top, largest))
                break;
    arena->broken = true;
    base = find_heap(image, arena, arena->top, largest);
    while (base && count++ < HEAPS_MOST) {
        uint64_t behind = base == home ? arena->address + glibc_heap_arena_size(heap->layout)
                                       : base + info,
                 first = heap_map_align(&heap->chunks, behind), before = 0;

        if (!add_heap(heap, image, arena, number, base, first))
            return;
        image_read_word(image, base + image->word, &before);
        arena->broken = base != home;
        base = base == home ? 0 : before;
        if (base && !find_heap(image, arena, base, largest))
            return;
    }
}

/* ---- Sums over the chunks -------------------------------------------------------------------- */

static void count_region(struct glibc_heap *heap, const struct chunk_region *region)
{
    struct heap_arena *arena = &heap->arenas[region->arena];

    heap->unknown_bytes += region->damaged ? region->end - region->stop : 0;
    arena->broken |= !region->mapped && region->damaged;
    for (uint32_t i = region->first; i < region->first + region->count; i++) {
        const struct chunk *chunk = &heap->chunks.chunk[i];
        enum chunk_state state = chunk_state(chunk);

        if (region->mapped) {
            heap->mapped_bytes += chunk_size(chunk);
            heap->mapped_count++;
            continue;
        }
        arena->bytes[state] += chunk_size(chunk);
        arena->count[state]++;
        if (state == CHUNK_FREE && chunk_size(chunk) > arena->largest_hole)
            arena->largest_hole = chunk_size(chunk);
    }
}

/* Adds the chunks that have a mapping of their own. They are searched outside of the regions of
 * arenas, which must have been found before. */
static bool add_mapped(struct glibc_heap *heap, struct image *image)
{
    struct heap_map found = {.word = image->word};
    bool good;

    heap_map_walk(&heap->chunks);
    good = mapped_chunks_add(image, &heap->chunks, &found);
    for (size_t i = 0; i < found.region_count; i++)
        heap_map_add_region(&heap->chunks, &found.regions[i]);
    heap_map_end(&found);
    heap->chunks.count = 0;
    for (size_t i = 0; i < heap->chunks.region_count; i++) {
        free(heap->chunks.regions[i].index);
        heap->chunks.regions[i].index = NULL;
    }
    heap_map_walk(&heap->chunks);
    return good;
}

bool glibc_heap_read(struct glibc_heap *heap, struct objects *objects, const char **trouble)
{
    struct image *image = objects->image;

    *heap = (struct glibc_heap){.chunks.word = image->word};
    if (!find_main_arena(heap, objects, trouble))
        return false;
    add_main_heap(heap, image, &heap->arenas[0]);
    for (uint32_t i = 1; i < heap->arena_count; i++)
        add_heaps(heap, image, i);
    if (!add_mapped(heap, image)) {
        *trouble = "not enough memory for a copy of its heap";
        return false;
    }
    heap->caches = free_lists_mark_caches(&heap->chunks);
    for (size_t i = 0; i < heap->arena_count; i++)
        heap->lists_damaged |= !free_lists_mark_fast(&heap->chunks, heap->arenas[i].fast);
    for (size_t i = 0; i < heap->chunks.region_count; i++)
        count_region(heap, &heap->chunks.regions[i]);
    return true;
}

void glibc_heap_end(struct glibc_heap *heap)
{
    heap_map_end(&heap->chunks);
    free(heap->arenas);
}
