/* heap.c - see heap.h. */
#include "tests/unit/scan/heap.h"

#include <stdlib.h>
#include <string.h>

/* Where things stand in main_arena and in the cache. */
static uint64_t bins_of(const struct heap *heap)
{
    return heap->newer ? 24 : 112;
}

static unsigned lists_of(const struct heap *heap)
{
    return heap->newer ? 76 : 64;
}

void heap_put(struct heap *heap, uint64_t address, uint64_t word)
{
    uint8_t *at = address >= HEAP_DATA && address < HEAP_DATA + sizeof(heap->data)
                      ? heap->data + (address - HEAP_DATA)
                  : address >= HEAP_STACK ? heap->stack + (address - HEAP_STACK)
                                          : heap->bytes + (address - HEAP_START);

    memcpy(at, &word, sizeof(word));
}

static size_t copy_from(uint64_t start, const uint8_t *bytes, size_t length, uint64_t address,
                        void *buffer, size_t size)
{
    if (address < start || address >= start + length)
        return 0;
    if (size > start + length - address)
        size = start + length - address;
    memcpy(buffer, bytes + (address - start), size);
    return size;
}

static size_t read_heap(struct image *image, uint64_t address, void *buffer, size_t size)
{
    struct heap *heap = image->source;
    size_t got = copy_from(HEAP_START, heap->bytes, sizeof(heap->bytes), address, buffer, size);

    if (!got)
        got = copy_from(HEAP_DATA, heap->data, sizeof(heap->data), address, buffer, size);
    return got ? got
               : copy_from(HEAP_STACK, heap->stack, sizeof(heap->stack), address, buffer, size);
}

static void add_mapping(struct heap *heap, uint64_t start, size_t size, const char *path)
{
    struct image_mapping mapping = {
        .start = start, .end = start + size, .path = path, .access = IMAGE_READ | IMAGE_WRITE};

    image_add_mapping(&heap->image, &mapping);
}

static void begin(struct heap *heap, bool newer)
{
    static struct object libc = {.path = "/lib/libc.so.6",
                                 .start = HEAP_DATA,
                                 .end = HEAP_DATA + HEAP_DATA_SIZE,
                                 .data_start = HEAP_DATA,
                                 .data_end = HEAP_DATA + HEAP_DATA_SIZE};

    memset(heap, 0, sizeof(*heap));
    heap->newer = newer;
    image_begin(&heap->image, arena_begin());
    heap->image.read = read_heap;
    heap->image.source = heap;
    add_mapping(heap, HEAP_START, sizeof(heap->bytes), NULL);
    add_mapping(heap, HEAP_DATA, sizeof(heap->data), "/lib/libc.so.6");
    add_mapping(heap, HEAP_STACK, sizeof(heap->stack), "[stack]");
    image_sort(&heap->image);
    heap->image.main_stack = HEAP_STACK + sizeof(heap->stack) - 8;
    heap->thread = image_add_thread(&heap->image, 1);
    heap->thread->sp = HEAP_STACK + 0x800;
    heap->objects = (struct objects){.image = &heap->image, .object = &libc, .count = 1};
    for (unsigned i = 1; i <= 127; i++) {
        uint64_t pair = HEAP_ARENA + bins_of(heap) + 16 * (i - 1);

        heap_put(heap, pair, pair - 16);
        heap_put(heap, pair + 8, pair - 16);
    }
    heap_put(heap, HEAP_ARENA + bins_of(heap) + 2048, HEAP_ARENA);
    heap->next = HEAP_START;
    heap->previous_in_use = 1;
    heap_add(heap, 10 * lists_of(heap)); /* the cache of the thread */
    for (unsigned list = 0; newer && list < lists_of(heap); list++)
        heap_cache(heap, list, NULL, 0, true);
}

void heap_begin(struct heap *heap)
{
    begin(heap, false);
}

void heap_begin_newer(struct heap *heap)
{
    begin(heap, true);
}

void heap_end(struct heap *heap)
{
    image_end(&heap->image);
    arena_end(heap->image.mem);
}

static uint64_t add_chunk(struct heap *heap, uint64_t size, bool used)
{
    uint64_t chunk = (size + 8 + 15) & ~(uint64_t)15, at = heap->next;

    if (chunk < 32)
        chunk = 32;
    heap_put(heap, at + 8, chunk | heap->previous_in_use);
    heap->previous_in_use = used;
    heap->next += chunk;
    if (!used)
        heap_put(heap, heap->next, chunk);
    return at + 16;
}

uint64_t heap_add(struct heap *heap, uint64_t size)
{
    return add_chunk(heap, size, true);
}

uint64_t heap_add_free(struct heap *heap, uint64_t size)
{
    return add_chunk(heap, size, false);
}

void heap_finish(struct heap *heap)
{
    uint64_t rest = HEAP_START + sizeof(heap->bytes) - heap->next;

    heap_put(heap, heap->next + 8, rest | heap->previous_in_use);
    heap_put(heap, HEAP_ARENA + bins_of(heap) - 16, heap->next);
}

void heap_cache(struct heap *heap, unsigned list, const uint64_t *blocks, unsigned count,
                bool mangled)
{
    uint16_t counted = (uint16_t)(heap->newer ? HEAP_CACHED - count : count);

    memcpy(heap->bytes + 16 + 2 * list, &counted, sizeof(counted));
    heap_put(heap, HEAP_START + 16 + 2 * lists_of(heap) + 8 * list, count ? blocks[0] : 0);
    for (unsigned i = 0; i < count; i++)
        heap_put(heap, blocks[i],
                 (i + 1 < count ? blocks[i + 1] : 0) ^ (mangled ? blocks[i] >> 12 : 0));
}

void heap_fast(struct heap *heap, unsigned bin, const uint64_t *blocks, unsigned count)
{
    heap_put(heap, HEAP_ARENA + 16 + 8 * bin, blocks[0] - 16);
    for (unsigned i = 0; i < count; i++)
        heap_put(heap, blocks[i], (i + 1 < count ? blocks[i + 1] - 16 : 0) ^ blocks[i] >> 12);
}
