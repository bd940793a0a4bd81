/* older_blocks.c - finds blocks from before libleak was loaded, by going through glibc's arenas in
 * a copy of the process. The ARENA_ offsets are those of struct malloc_state in 64-bit glibc 2.27
 * to 2.41; data that does not have this form is ignored. */
#include "preload/roots/older_blocks.h"
#include "preload/memory/collections.h"
#include "preload/base/sys.h"
#include "preload/heap/capture.h"
#include "preload/heap/quarantine.h"
#include "preload/heap/sample.h"
#include "preload/roots/heap_ranges.h"

#include <link.h>

#define WORD sizeof(uintptr_t)
#define ARENA_FAST 16
#define FAST_BINS 10
#define ARENA_TOP 96
#define ARENA_BINS 112
#define BINS 127
#define ARENA_NEXT 2160
#define ARENA_SIZE 2200
#define ARENAS_MOST 4096

/* Size and alignment of the heaps in which secondary arenas allocate. */
#define HEAP_ALIGN (64ull << 20)
#define HEAP_HEADER_MOST 64 /* room for glibc's struct heap_info at the start of a heap */

#define CHUNK_HEAD 16
#define CHUNK_MIN 32
#define CHUNK_OWN 8 /* bytes of a chunk that do not belong to its block */
#define IN_USE_BEFORE 1ul
#define HAS_MAPPING 2ul
#define FENCE 16 /* size of the fence chunks that glibc puts before a gap in the heap */

#define PARTS_MOST (1u << 16)
#define FAST_MOST (1u << 22)
#define MAPPED_MOST (1u << 20)
#define PAGES_AT_ONCE 512

/* ---- Sites of older blocks, by size ---------------------------------------------------------- */

/* Sizes up to the largest one in the thread caches have a class each; beyond that, each power of
 * two is divided into four classes. */
#define EXACT_CLASSES 64
_Static_assert(CHUNK_MIN - CHUNK_OWN + 16 * (EXACT_CLASSES - 1) == LEAK_OLDER_EXACT, "");
#define POWERS 30
#define CLASSES (EXACT_CLASSES + 4 * POWERS)

static uint32_t class_sites[CLASSES];

static uint64_t class_size(unsigned number)
{
    if (number < EXACT_CLASSES)
        return CHUNK_MIN - CHUNK_OWN + 16 * number;
    number -= EXACT_CLASSES;
    return (1280ull + 256 * (number % 4)) << number / 4;
}

/* Finds the smallest class whose size is at least this size. */
static unsigned class_of(uint64_t size)
{
    if (size <= LEAK_OLDER_EXACT)
        return size <= CHUNK_MIN - CHUNK_OWN ? 0 : (size - CHUNK_MIN + CHUNK_OWN + 15) / 16;
    return EXACT_CLASSES +
           LOWER_BOUND(CLASSES - 1 - EXACT_CLASSES, i, class_size(EXACT_CLASSES + i) < size);
}

void older_blocks_start(struct guard *guard)
{
    struct locked shared;
    struct thread *self = class_sites[0] ? NULL : threads_self(guard, &shared);
    if (!self)
        return;
    for (unsigned i = 0; i < CLASSES; i++)
        class_sites[i] = capture_older_site(guard, self, class_size(i));
    threads_done(self, &shared);
}

bool older_blocks_wanted(void)
{
    return WORD == 8 && class_sites[0] && !sample_state.bytes && !quarantine_is_on();
}

/* ---- Arenas ---------------------------------------------------------------------------------- */

static uintptr_t word_of(uintptr_t address)
{
    return *(const uintptr_t *)address;
}

static uintptr_t bin_pair(uintptr_t arena, unsigned bin)
{
    return arena + ARENA_BINS + 2 * WORD * (bin - 1);
}

/* Says whether a bin is empty: its two links point to the bin itself, as to a chunk that begins two
 * words before them. */
static bool bin_is_empty(uintptr_t arena, unsigned bin)
{
    uintptr_t pair = bin_pair(arena, bin);
    return word_of(pair) == pair - CHUNK_HEAD && word_of(pair + WORD) == pair - CHUNK_HEAD;
}

/* Says whether a struct malloc_state begins here: its last bin is always empty, and all links of
 * bins are aligned. */
static bool is_arena(uintptr_t arena)
{
    if (!bin_is_empty(arena, BINS) || word_of(arena + ARENA_TOP) % CHUNK_HEAD ||
        !word_of(arena + ARENA_TOP) || !word_of(arena + ARENA_NEXT))
        return false;
    for (unsigned bin = 1; bin < BINS; bin++) {
        uintptr_t pair = bin_pair(arena, bin);
        if (!word_of(pair) || word_of(pair) % WORD || !word_of(pair + WORD) ||
            word_of(pair + WORD) % WORD)
            return false;
    }
    return true;
}

static uintptr_t find_in_data(uintptr_t start, uintptr_t end)
{
    for (uintptr_t at = round_up(start, CHUNK_HEAD); at + ARENA_SIZE <= end; at += CHUNK_HEAD)
        if (bin_is_empty(at, BINS) && is_arena(at))
            return at;
    return 0;
}

static uintptr_t find_main_arena(const struct elf_images *images)
{
    uintptr_t arena = 0;
    for (uint32_t i = 0; i < images->count && !arena; i++)
        for (unsigned k = 0;
             elf_images_is_libc(&images->image[i]) && !arena && k < images->image[i].data_count;
             k++)
            arena = find_in_data(images->image[i].data[k].start, images->image[i].data[k].end);
    return arena;
}

/* ---- Chunks ---------------------------------------------------------------------------------- */

static uint64_t size_of_chunk(uintptr_t chunk)
{
    return word_of(chunk + WORD) & ~7ull;
}

/* Follows the chunks up to the top chunk or a fence, and returns where they end. 0: a size is
 * implausible, so they lead to neither. */
static uintptr_t follow_chunks(uintptr_t chunk, uintptr_t top)
{
    while (chunk < top) {
        uint64_t size = size_of_chunk(chunk);
        if (size == FENCE)
            return chunk;
        if (size < CHUNK_MIN || size % CHUNK_HEAD || word_of(chunk + WORD) & HAS_MAPPING ||
            size > top - chunk)
            return 0;
        chunk += size;
    }
    return chunk == top ? top : 0;
}

static void add_part(struct older_blocks *blocks, uintptr_t start, uintptr_t top)
{
    uintptr_t end = follow_chunks(start, top);
    if (end > start && blocks->parts < PARTS_MOST)
        blocks->part[blocks->parts++] = (struct older_part){start, end};
}

static void add_main_part(const struct procmaps *maps, struct older_blocks *blocks, uintptr_t top)
{
    const struct mapping *mapping = procmaps_find(maps, top);
    if (mapping && strncmp(mapping->path, "[heap", 5) == 0)
        add_part(blocks, mapping->start, top);
}

/* Adds a heap of a secondary arena. The first heap contains the arena itself, before its chunks. */
static void add_heap(struct older_blocks *blocks, uintptr_t heap, uintptr_t arena)
{
    uintptr_t top = word_of(arena + ARENA_TOP), end = heap + word_of(heap + 2 * WORD);
    uintptr_t start = round_up(arena + ARENA_SIZE, CHUNK_HEAD);
    if (top > heap && top < end)
        end = top;
    if (arena - heap < HEAP_ALIGN)
        return add_part(blocks, start, end);
    for (start = heap + 2 * CHUNK_HEAD; start <= heap + HEAP_HEADER_MOST; start += CHUNK_HEAD)
        if (follow_chunks(start, end))
            return add_part(blocks, start, end);
}

static bool is_heap_of(const struct procmaps *maps, uintptr_t heap, uintptr_t arena)
{
    const struct mapping *mapping = procmaps_find(maps, heap);
    return mapping && mapping->read && procmaps_is_anonymous(mapping) && word_of(heap) == arena &&
           word_of(heap + 2 * WORD) <= HEAP_ALIGN;
}

/* Adds all heaps of an arena, from the newest one, which contains the top chunk, back to the
 * first. */
static void add_heaps(const struct procmaps *maps, struct older_blocks *blocks, uintptr_t arena)
{
    uintptr_t heap = word_of(arena + ARENA_TOP) & -HEAP_ALIGN;
    for (uint32_t i = 0; i < PARTS_MOST && heap && is_heap_of(maps, heap, arena); i++) {
        add_heap(blocks, heap, arena);
        heap = word_of(heap + WORD);
    }
}

/* ---- Fast bins ------------------------------------------------------------------------------- */

static const struct older_part *part_of(const struct older_blocks *blocks, uintptr_t chunk)
{
    for (uint32_t i = 0; i < blocks->parts; i++)
        if (chunk - blocks->part[i].start < blocks->part[i].end - blocks->part[i].start)
            return &blocks->part[i];
    return NULL;
}

/* Finds the next chunk of a fast bin. Since glibc 2.32 a link is xored with its own address shifted
 * by 12. */
static uintptr_t next_fast(const struct older_blocks *blocks, uintptr_t chunk)
{
    uintptr_t link = word_of(chunk + CHUNK_HEAD);
    uintptr_t plain = link ^ (chunk + CHUNK_HEAD) >> 12;
    return !link || !plain ? 0 : part_of(blocks, plain) ? plain : link;
}

static void add_fast_chunks(struct older_blocks *blocks, uintptr_t arena)
{
    for (unsigned bin = 0; bin < FAST_BINS; bin++) {
        uintptr_t chunk = word_of(arena + ARENA_FAST + WORD * bin);
        for (; chunk % CHUNK_HEAD == 0 && part_of(blocks, chunk) && blocks->fast_count < FAST_MOST;
             chunk = next_fast(blocks, chunk))
            blocks->fast[blocks->fast_count++].address = chunk;
    }
}

static bool is_fast(const struct older_blocks *blocks, uintptr_t chunk)
{
    uint32_t at = LOWER_BOUND(blocks->fast_count, i, blocks->fast[i].address < chunk);
    return at < blocks->fast_count && blocks->fast[at].address == chunk;
}

/* ---- Blocks of the dynamic loader ------------------------------------------------------------ */

/* Finds the words in the data of the dynamic loader that point into the heap. The loader holds some
 * tables of its own by a pointer to their first cache line, so a block that such a word points into
 * is in use. */
static void find_held_by_loader(const struct elf_images *images, struct older_blocks *blocks)
{
    const struct elf_image *loader = elf_images_at(images, _r_debug.r_ldbase);
    for (unsigned k = 0; loader && k < loader->data_count; k++)
        for (uintptr_t at = loader->data[k].start; at + WORD <= loader->data[k].end; at += WORD)
            if (blocks->loader_count < ARRAY_LENGTH(blocks->loader) && part_of(blocks, word_of(at)))
                blocks->loader[blocks->loader_count++].word = word_of(at);
    SORT_BY(blocks->loader, blocks->loader_count, word);
}

static bool is_held_by_loader(const struct older_blocks *blocks, const struct block *block)
{
    uint32_t at = LOWER_BOUND(blocks->loader_count, i, blocks->loader[i].word <= block->address);
    return at < blocks->loader_count && blocks->loader[at].word - block->address < block->size;
}

/* ---- Blocks that are a mapping of their own -------------------------------------------------- */

/* Returns the size of a block that glibc mapped alone and that begins with this page; 0: no such
 * block begins here. */
static uint64_t size_at_page(const struct mapping *mapping, uintptr_t page)
{
    uint64_t head = word_of(page + WORD), size = head & ~7ull;
    bool is_head = !word_of(page) && (head & 7) == HAS_MAPPING && size % LEAK_PAGE == 0;
    return is_head && size <= mapping->end - page ? size : 0;
}

/* Finds blocks that glibc mapped alone. The kernel merges neighbouring mappings, so such a block
 * may begin with any touched page of a mapping. */
static void add_mapped(int pagemap, const struct mapping *mapping, struct older_blocks *blocks)
{
    uint64_t entry[PAGES_AT_ONCE];
    uintptr_t at = mapping->start, behind = 0; /* behind: end of the last block */
    size_t count;
    for (; at < mapping->end &&
           (count = pagemap_read(pagemap, at, mapping->end, entry, PAGES_AT_ONCE));
         at += count * LEAK_PAGE)
        for (size_t i = 0; i < count; i++) {
            uintptr_t page = at + i * LEAK_PAGE;
            uint64_t size =
                page >= behind && pagemap_is_touched(entry[i]) ? size_at_page(mapping, page) : 0;
            if (!size || blocks->mapped_count == MAPPED_MOST)
                continue;
            blocks->mapped[blocks->mapped_count++] = page;
            behind = page + size;
        }
}

static void find_mapped(const struct procmaps *maps, struct older_blocks *blocks)
{
    int pagemap = pagemap_open();
    for (uint32_t i = 0; i < maps->count; i++) {
        const struct mapping *mapping = &maps->mapping[i];
        if (procmaps_is_anonymous(mapping) && mapping->read && !*mapping->path)
            add_mapped(pagemap, mapping, blocks);
    }
    if (pagemap >= 0)
        sys_close(pagemap);
}

/* ---- All older blocks ------------------------------------------------------------------------ */

static bool is_in_use(const struct older_blocks *blocks, uintptr_t chunk, uint64_t size)
{
    return word_of(chunk + size + WORD) & IN_USE_BEFORE && !heap_ranges_is_cached(chunk) &&
           !is_fast(blocks, chunk);
}

static struct block block_of(uintptr_t chunk, uint64_t size)
{
    return (struct block){.address = chunk + CHUNK_HEAD,
                          .size = size,
                          .site = class_sites[class_of(size)],
                          .kind = LEAK_KIND_MALLOC};
}

void older_blocks_each(const struct older_blocks *blocks,
                       void (*visit)(const struct block *block, void *context), void *context)
{
    for (uint32_t i = 0; i < blocks->parts; i++) {
        uintptr_t chunk = blocks->part[i].start, end = blocks->part[i].end;
        for (uint64_t size; chunk < end; chunk += size) {
            size = size_of_chunk(chunk);
            if (!is_in_use(blocks, chunk, size))
                continue;
            struct block block = block_of(chunk, size - CHUNK_OWN);
            block.kind |= is_held_by_loader(blocks, &block) ? BLOCKS_IGNORED : 0;
            visit(&block, context);
        }
    }
    for (uint32_t i = 0; i < blocks->mapped_count; i++) {
        uintptr_t chunk = blocks->mapped[i];
        /* The block ends before the mapping does: a pointer to the end of the mapping may refer to
         * the next mapping. */
        struct block block = block_of(chunk, size_of_chunk(chunk) - CHUNK_HEAD - WORD);
        visit(&block, context);
    }
}

static void count_block(const struct block *block UNUSED, void *context)
{
    ((struct older_blocks *)context)->count++;
}

void older_blocks_find(const struct procmaps *maps, const struct elf_images *images,
                       struct older_blocks *out)
{
    uintptr_t arena = find_main_arena(images), first = arena;
    *out = (struct older_blocks){.part = sys_map_lazily(PARTS_MOST * sizeof *out->part),
                                 .fast = sys_map_lazily(FAST_MOST * sizeof *out->fast),
                                 .mapped = sys_map_lazily(MAPPED_MOST * sizeof *out->mapped)};
    if (!arena || !out->part || !out->fast || !out->mapped)
        return;
    find_mapped(maps, out);
    add_main_part(maps, out, word_of(arena + ARENA_TOP));
    for (unsigned i = 0; i < ARENAS_MOST && (arena = word_of(arena + ARENA_NEXT)) != first; i++) {
        const struct mapping *mapping = procmaps_find(maps, arena);
        if (!mapping || !mapping->read || mapping->end - arena < ARENA_SIZE || !is_arena(arena))
            break;
        add_heaps(maps, out, arena);
    }
    arena = first;
    do {
        add_fast_chunks(out, arena);
        arena = word_of(arena + ARENA_NEXT);
    } while (arena != first && procmaps_find(maps, arena) && is_arena(arena));
    SORT_BY(out->fast, out->fast_count, address);
    find_held_by_loader(images, out);
    older_blocks_each(out, count_block, out);
}
