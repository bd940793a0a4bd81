/* heap_ranges.c - finds the memory of the allocator, that of glibc by glibc's own data. */
#include "preload/roots/heap_ranges.h"
#include "preload/memory/collections.h"
#include "preload/mark/nested_blocks.h"
#include "preload/base/sys.h"
#include "preload/interpose/real_functions.h"

/* Size and alignment of the heaps in which glibc's secondary arenas allocate. */
#define GLIBC_HEAP (WORD == 8 ? (uintptr_t)64 << 20 : 1u << 20)
/* Flag in the size word of a glibc chunk: the chunk is a mapping of its own. */
#define GLIBC_MMAPPED 2
#define CHUNK_HEAD (2 * WORD) /* distance from the start of a chunk to its block */
#define CHUNK_MIN (WORD == 8 ? 32 : 16)
/* The largest number of ranges, further ones are left out; the array takes memory only as far as it
 * is used. */
#define HEAPS_MOST (1u << 20)

/* The header that glibc puts at the start of each heap of a secondary arena. */
struct glibc_heap {
    uintptr_t arena;
    uintptr_t before;
    uintptr_t size;
};

static void append_range(struct heap_ranges *heaps, uintptr_t start, uintptr_t end)
{
    if (heaps->count < HEAPS_MOST)
        heaps->range[heaps->count++] = (struct heap_range){start, end};
}

/* Says whether a heap of a secondary arena begins here. Its first word must point to the arena,
 * which is at the start of the arena's first heap: this heap or another one. */
static bool is_glibc_heap(const struct procmaps *maps, uintptr_t start)
{
    const struct glibc_heap *heap = (const void *)start;
    const struct mapping *mapping;
    uintptr_t first = heap->arena & ~(GLIBC_HEAP - 1);
    if (heap->arena - first - sizeof *heap > 256 || !first || heap->size > GLIBC_HEAP ||
        heap->size < LEAK_PAGE)
        return false;
    return first == start ||
           ((mapping = procmaps_find(maps, first)) && procmaps_is_anonymous(mapping) &&
            *(const uintptr_t *)first == heap->arena);
}

static void add_glibc_heaps(const struct procmaps *maps, const struct mapping *mapping,
                            struct heap_ranges *heaps)
{
    if (strncmp(mapping->path, "[heap", 5) == 0)
        append_range(heaps, mapping->start, mapping->end);
    for (uintptr_t at = round_up(mapping->start, GLIBC_HEAP); at < mapping->end; at += GLIBC_HEAP)
        if (is_glibc_heap(maps, at))
            append_range(heaps, at, at + ((const struct glibc_heap *)at)->size);
}

/* Finds the mapping that glibc made for one block. If glibc did not make one, the result is the
 * whole mapping that contains the block; the kernel may have merged it with its neighbours. */
static struct heap_range containing_range(const struct mapping *mapping, uintptr_t address,
                                          uint64_t size, bool glibc)
{
    const struct heap_range all = {mapping->start, mapping->end};
    if (!glibc || address % 16 || address - mapping->start < CHUNK_HEAD)
        return all;
    /* The block may begin later in the mapping, because it had to be aligned. */
    const uintptr_t *chunk = (const uintptr_t *)address - 2;
    const struct heap_range own = {address - CHUNK_HEAD - chunk[0],
                                   address - CHUNK_HEAD + (chunk[1] & ~(uintptr_t)7)};
    return chunk[1] & GLIBC_MMAPPED && own.start % LEAK_PAGE == 0 && own.end % LEAK_PAGE == 0 &&
                   own.end >= address + size
               ? own
               : all;
}

/* Adds the mappings of blocks that lie in no range yet. Blocks and ranges are both in ascending
 * order. */
static void add_block_ranges(const struct procmaps *maps, const struct reach *reach, bool glibc,
                             struct heap_ranges *heaps)
{
    uint32_t known = heaps->count, at = 0;
    struct heap_range home = {0};
    for (uint32_t i = 0, count = reach_count(reach); i < count; i++) {
        uintptr_t address;
        uint64_t size;
        /* A block inside of another block lies in the range of the outer one. */
        if (reach_is_nested(reach, i))
            continue;
        nested_blocks_original(reach, i, &address, &size);
        while (at < known && heaps->range[at].end <= address)
            at++;
        if ((at < known && heaps->range[at].start <= address) ||
            address - home.start < home.end - home.start)
            continue;
        const struct mapping *mapping = procmaps_find(maps, address);
        if (!mapping)
            continue;
        home = containing_range(mapping, address, size, glibc);
        append_range(heaps, home.start, home.end);
    }
}

bool heap_ranges_find(const struct procmaps *maps, const struct reach *reach, bool glibc,
                      struct heap_ranges *out)
{
    *out = (struct heap_ranges){.range = sys_map_lazily(HEAPS_MOST * sizeof *out->range)};
    if (!out->range)
        return false;
    for (uint32_t i = 0; glibc && i < maps->count; i++)
        if (procmaps_is_anonymous(&maps->mapping[i]))
            add_glibc_heaps(maps, &maps->mapping[i], out);
    SORT_BY(out->range, out->count, start);
    add_block_ranges(maps, reach, glibc, out);
    SORT_BY(out->range, out->count, start);
    return true;
}

/* ---- Heaps that existed before libleak was loaded -------------------------------------------- */

#define PREVIOUS_IN_USE 1ul

struct chunk_walk {
    uintptr_t end; /* end of the heap */
    void (*visit)(uintptr_t start, size_t size, void *context);
    void *context;
};

static uint64_t chunk_word(uintptr_t chunk)
{
    return ((const uintptr_t *)chunk)[1];
}

/* Returns the size in bytes of the chunk that begins here. 0: no chunk begins here, or the size is
 * implausible. */
static uint64_t chunk_size(const struct chunk_walk *walk, uintptr_t chunk)
{
    if (chunk % CHUNK_HEAD || chunk + CHUNK_HEAD > walk->end || chunk_word(chunk) & GLIBC_MMAPPED)
        return 0;
    uint64_t size = chunk_word(chunk) & ~7ull;
    return size >= CHUNK_MIN && size % CHUNK_HEAD == 0 && size <= walk->end - chunk ? size : 0;
}

static uint64_t tcache_key; /* glibc's mark for chunks in a thread's cache; 0: unknown */

void heap_ranges_learn_tcache_key(void)
{
    uintptr_t *block = real.malloc(24);
    if (!block)
        return;
    real.free(block);
    uintptr_t word;
    /* Reading a freed block is safe here: small chunks stay mapped after free. */
    __asm__ volatile("" : "+r"(block) : : "memory");
    word = block[1];
    tcache_key = word >> 4 * WORD ? word : 0;
}

bool heap_ranges_is_cached(uintptr_t chunk)
{
    return tcache_key && chunk_word(chunk + CHUNK_HEAD) == tcache_key;
}

/* Says whether a chunk is free. The last chunk of a heap (the top chunk) has never been
 * allocated. */
static bool is_free_chunk(const struct chunk_walk *walk, uintptr_t chunk, uint64_t size)
{
    uintptr_t next = chunk + size;
    return next + CHUNK_HEAD > walk->end || !(chunk_word(next) & PREVIOUS_IN_USE) ||
           heap_ranges_is_cached(chunk);
}

/* Visits the free chunks from "chunk" on, until the next block that libleak has recorded (address
 * in "block") or the end of the heap. */
static void walk_chunks(const struct chunk_walk *walk, uintptr_t chunk, uintptr_t block)
{
    uint64_t size;
    while (chunk + CHUNK_HEAD < block && (size = chunk_size(walk, chunk))) {
        if (chunk + size > block)
            return;
        if (is_free_chunk(walk, chunk, size))
            walk->visit(chunk + CHUNK_HEAD, size - CHUNK_HEAD, walk->context);
        chunk += size;
    }
}

static uint32_t walk_heap(const struct chunk_walk *walk, uintptr_t start, const struct reach *reach,
                          uint32_t block, bool glibc)
{
    uintptr_t chunk = glibc ? start : walk->end;
    for (; block < reach_count(reach) && reach_address(reach, block) < walk->end; block++) {
        uintptr_t address = reach_address(reach, block);
        walk_chunks(walk, chunk, address);
        walk->visit(address, reach_size(reach, block), walk->context);
        uint64_t size =
            glibc && address - start >= CHUNK_HEAD ? chunk_size(walk, address - CHUNK_HEAD) : 0;
        chunk = size ? address - CHUNK_HEAD + size : walk->end;
    }
    walk_chunks(walk, chunk, walk->end);
    return block;
}

void heap_ranges_each_non_root(const struct heap_ranges *heaps, const struct reach *reach,
                               bool glibc,
                               void (*visit)(uintptr_t start, size_t size, void *context),
                               void *context)
{
    uint32_t block = 0;
    for (uint32_t i = 0; i < heaps->count; i++) {
        const struct heap_range *heap = &heaps->range[i];
        const struct chunk_walk walk = {heap->end, visit, context};
        while (block < reach_count(reach) && reach_address(reach, block) < heap->start)
            block++;
        block = walk_heap(&walk, heap->start, reach, block, glibc);
    }
}
