/* free_lists.c - finds the caches of threads and the fast bins of glibc's malloc. */
#include "scan/heap/free_lists.h"

#include <string.h>

#include "common/base/hashmap.h"
#include "scan/image/image.h"

#define LIST_MOST 65535 /* most chunks in a list: the largest number that a count can have */
#define SMALL_LISTS 64u /* number of lists that each have chunks of one size only */
#define LISTS_MOST 76u
/* Least size in bytes of a chunk in the first of the other lists, which have chunks of several
 * sizes. */
#define LARGE_LEAST 1024u

/* A list of free chunks: thread cache or fast bin. */
struct list {
    struct heap_map *chunks;
    uint64_t least, most; /* smallest and largest size in bytes of a chunk in the list */
    uint64_t first;       /* address of the first block; 0: the list is empty */
    bool fast;            /* a fast bin, whose links point to chunks; links of a thread cache
                           * point to blocks */
    bool mangled;
};

static uint64_t word_of(const struct heap_map *chunks, uint32_t number)
{
    return image_word(heap_map_block_bytes(chunks, number), chunks->word);
}

/* Returns the index (in heap_map.chunk[]) of the chunk of a block, if that chunk can be in the
 * list; CHUNK_NONE: it cannot. */
static uint32_t member(const struct list *list, uint64_t block)
{
    uint32_t number = block % CHUNK_ALIGN
                          ? CHUNK_NONE
                          : heap_map_at(list->chunks, block - heap_map_header(list->chunks));

    return number != CHUNK_NONE && chunk_size(&list->chunks->chunk[number]) >= list->least &&
                   chunk_size(&list->chunks->chunk[number]) <= list->most &&
                   chunk_state(&list->chunks->chunk[number]) == CHUNK_USED
               ? number
               : CHUNK_NONE;
}

static uint64_t next_of(const struct list *list, uint32_t number, uint64_t block)
{
    uint64_t word = word_of(list->chunks, number), next = list->mangled ? word ^ block >> 12 : word;

    return next && list->fast ? next + heap_map_header(list->chunks) : next;
}

/* Counts the chunks in the list, at most `most`. Stops at the list's end (*ended is true then) or
 * at a link that cannot be right. */
static uint32_t follow(const struct list *list, uint32_t most, bool *ended)
{
    uint64_t block = list->first;
    uint32_t count = 0, number;

    while (block && count < most && (number = member(list, block)) != CHUNK_NONE) {
        block = next_of(list, number, block);
        count++;
    }
    *ended = !block;
    return count;
}

static void mark(const struct list *list, uint32_t count, enum chunk_state state)
{
    uint64_t block = list->first;

    while (count--) {
        uint32_t number = member(list, block);

        if (number == CHUNK_NONE) /* this chunk was marked before: the list is a circle */
            return;
        block = next_of(list, number, block);
        chunk_set_state(&list->chunks->chunk[number], state);
    }
}

/* Finds out whether the links of the list are mangled (free_lists.h), and counts its chunks. False:
 * the list ends neither with mangled nor with unmangled links. */
static bool measure(struct list *list, uint32_t most, uint32_t *count)
{
    bool ended;

    list->mangled = true;
    *count = follow(list, most, &ended);
    if (ended)
        return true;
    list->mangled = false;
    *count = follow(list, most, &ended);
    if (ended)
        return true;
    list->mangled = true;
    *count = follow(list, most, &ended);
    return false;
}

/* ---- Thread caches --------------------------------------------------------------------------- */

/* The layouts of a thread cache (tcache) in memory: counts of 16 bits, then pointers to lists. */
static const struct cache_layout {
    unsigned lists;
    bool counts_room; /* a count says how many more blocks the list takes; false: how many it has */
} layouts[] = {{SMALL_LISTS, false}, {LISTS_MOST, true}};

struct cache {
    const struct cache_layout *layout;
    uint16_t counts[LISTS_MOST]; /* number of blocks in each list */
    uint64_t first[LISTS_MOST];
};

static size_t cache_size(const struct heap_map *chunks, const struct cache_layout *layout)
{
    return layout->lists * (sizeof(uint16_t) + chunks->word);
}

/* Returns the layout of a cache whose block has a chunk of this size; NULL: no cache has such a
 * chunk. */
static const struct cache_layout *find_layout(const struct heap_map *chunks, uint64_t chunk)
{
    for (size_t i = 0; i < sizeof(layouts) / sizeof(*layouts); i++) {
        uint64_t size = cache_size(chunks, &layouts[i]) + chunks->word;

        if (chunk == ((size + CHUNK_ALIGN - 1) & -(uint64_t)CHUNK_ALIGN))
            return &layouts[i];
    }
    return NULL;
}

/* Converts counts of blocks that a list may still take to counts of blocks that it has. All lists
 * take the same number of blocks at most; that number is the count of an empty list. */
static bool count_blocks(struct cache *cache)
{
    uint16_t most = 0;

    for (unsigned i = 0; i < cache->layout->lists; i++)
        if (!cache->first[i] && cache->counts[i] > most)
            most = cache->counts[i];
    for (unsigned i = 0; i < cache->layout->lists; i++) {
        if (cache->counts[i] > most)
            return false;
        cache->counts[i] = (uint16_t)(most - cache->counts[i]);
    }
    return most > 0;
}

static bool read_cache(const struct heap_map *chunks, uint32_t number,
                       const struct cache_layout *layout, struct cache *cache)
{
    const uint8_t *bytes = heap_map_block_bytes(chunks, number);
    size_t counts = layout->lists * sizeof(*cache->counts);

    if (heap_map_block_size(chunks, number) < cache_size(chunks, layout))
        return false;
    *cache = (struct cache){.layout = layout};
    memcpy(cache->counts, bytes, counts);
    for (unsigned i = 0; i < layout->lists; i++)
        cache->first[i] = image_word(bytes + counts + i * chunks->word, chunks->word);
    return !layout->counts_room || count_blocks(cache);
}

static struct list list_of(struct heap_map *chunks, const struct cache *cache, unsigned i)
{
    struct list list = {.chunks = chunks, .first = cache->first[i]};
    uint64_t large = (uint64_t)LARGE_LEAST << (i < SMALL_LISTS ? 0 : i - SMALL_LISTS);

    list.least = i < SMALL_LISTS ? heap_map_least(chunks) + CHUNK_ALIGN * i : large;
    list.most = i < SMALL_LISTS ? list.least : 2 * large - 1;
    return list;
}

/* Says whether a block is a thread cache: its lists must have as many blocks as it counts. In a
 * running process a list may have changed between two reads, so most lists, not all, must be
 * right. */
static bool is_cache(struct heap_map *chunks, const struct cache *cache)
{
    unsigned right = 0, wrong = 0;

    for (unsigned i = 0; i < cache->layout->lists; i++) {
        struct list list = list_of(chunks, cache, i);
        uint32_t count;

        if (!cache->counts[i] != !cache->first[i] || cache->first[i] % CHUNK_ALIGN)
            return false;
        if (!list.first)
            continue;
        if (measure(&list, LIST_MOST, &count) && count == cache->counts[i])
            right++;
        else
            wrong++;
    }
    return right > 3 * wrong;
}

static bool is_empty(const struct cache *cache)
{
    for (unsigned i = 0; i < cache->layout->lists; i++)
        if (cache->counts[i] || cache->first[i])
            return false;
    return true;
}

/* Returns the key in the second word of a block in a cache: a random number of the process, before
 * glibc 2.34 the address of the cache. malloc clears the key when it returns the block. */
static uint64_t key_of(const struct heap_map *chunks, uint32_t number)
{
    return image_word(heap_map_block_bytes(chunks, number) + chunks->word, chunks->word);
}

static void learn_key(const struct list *list, struct hashmap *keys)
{
    uint32_t number = member(list, list->first);

    if (number != CHUNK_NONE && key_of(list->chunks, number))
        *hashmap_put(keys, key_of(list->chunks, number), NULL) = 1;
}

/* Marks every block that has the key of a cache. This also finds blocks that no list led to: a list
 * may have changed while the heap was read. */
static void mark_by_keys(struct heap_map *chunks, const struct hashmap *keys, uint64_t most)
{
    for (uint32_t i = 0; keys->used && i < chunks->count; i++)
        if (chunk_state(&chunks->chunk[i]) == CHUNK_USED && chunk_size(&chunks->chunk[i]) <= most &&
            hashmap_get(keys, key_of(chunks, i)))
            chunk_set_state(&chunks->chunk[i], CHUNK_CACHED);
}

static void mark_cache(struct heap_map *chunks, const struct cache *cache, struct hashmap *keys)
{
    for (unsigned i = 0; i < cache->layout->lists; i++) {
        struct list list = list_of(chunks, cache, i);
        uint32_t count;

        if (list.first) {
            if (measure(&list, LIST_MOST, &count) && count == cache->counts[i])
                learn_key(&list, keys);
            mark(&list, count, CHUNK_CACHED);
        }
    }
}

/* Says whether a block is the first of its arena, which is the cache of the thread that created
 * the arena. */
static bool is_first(const struct heap_map *chunks, uint32_t number)
{
    const struct chunk_region *region = heap_map_region(chunks, chunks->chunk[number].address);

    return region && region->first == number && !region->mapped;
}

unsigned free_lists_mark_caches(struct heap_map *chunks)
{
    struct hashmap keys = {0};
    unsigned found = 0;
    uint64_t most = 0; /* size in bytes of the largest chunk that a cache may contain */

    for (uint32_t i = 0; i < chunks->count; i++) {
        const struct cache_layout *layout = find_layout(chunks, chunk_size(&chunks->chunk[i]));
        struct cache cache;
        struct list last;

        if (!layout || chunk_state(&chunks->chunk[i]) != CHUNK_USED ||
            !read_cache(chunks, i, layout, &cache))
            continue;
        if (is_empty(&cache) ? !is_first(chunks, i) : !is_cache(chunks, &cache))
            continue;
        chunk_set_state(&chunks->chunk[i], CHUNK_OWN);
        mark_cache(chunks, &cache, &keys);
        last = list_of(chunks, &cache, layout->lists - 1);
        most = last.most > most ? last.most : most;
        found++;
    }
    mark_by_keys(chunks, &keys, most);
    hashmap_end(&keys);
    return found;
}

/* ---- Fast bins of arenas --------------------------------------------------------------------- */

bool free_lists_mark_fast(struct heap_map *chunks, const uint64_t bins[FREE_LISTS_FAST_BINS])
{
    bool good = true;

    for (unsigned i = 0; i < FREE_LISTS_FAST_BINS; i++) {
        uint64_t header = heap_map_header(chunks), size = heap_map_least(chunks) + header * i;
        struct list list = {.chunks = chunks,
                            .least = size,
                            .most = size,
                            .fast = true,
                            .first = bins[i] ? bins[i] + header : 0};
        uint32_t count;

        if (!list.first)
            continue;
        good &= measure(&list, (uint32_t)chunks->count, &count);
        mark(&list, count, CHUNK_FAST);
    }
    return good;
}
