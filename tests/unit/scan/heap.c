/* heap.c - see heap.h. */
#include "tests/unit/scan/heap.h"

#include <stdlib.h>
#include <string.h>

/* Where things stand in main_arena and in the cache. */
static uint64_t bins_of(const struct heap *heap)
{
    return heap->word == 4 ? 64 : heap->newer ? 24 : 112;
}

static uint64_t header_of(const struct heap *heap)
{
    return 2 * heap->word;
}

uint64_t heap_address(const struct heap *heap, uint64_t address)
{
    return heap->word == 4 ? (uint32_t)address : address;
}

static unsigned lists_of(const struct heap *heap)
{
    return heap->newer ? 76 : 64;
}

void heap_put(struct heap *heap, uint64_t address, uint64_t word)
{
    uint64_t here = heap_address(heap, address), data = heap_address(heap, HEAP_DATA),
             stack = heap_address(heap, HEAP_STACK), start = heap_address(heap, HEAP_START);
    uint8_t *at = here >= data && here < data + sizeof(heap->data) ? heap->data + (here - data)
                  : here >= stack                                  ? heap->stack + (here - stack)
                                                                   : heap->bytes + (here - start);

    memcpy(at, &word, heap->word);
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
    size_t got = copy_from(heap_address(heap, HEAP_START), heap->bytes, sizeof(heap->bytes),
                           address, buffer, size);

    if (!got)
        got = copy_from(heap_address(heap, HEAP_DATA), heap->data, sizeof(heap->data), address,
                        buffer, size);
    return got ? got
               : copy_from(heap_address(heap, HEAP_STACK), heap->stack, sizeof(heap->stack),
                           address, buffer, size);
}

static void add_mapping(struct heap *heap, uint64_t start, size_t size, const char *path)
{
    struct image_mapping mapping = {.start = heap_address(heap, start),
                                    .end = heap_address(heap, start) + size,
                                    .path = path,
                                    .access = IMAGE_READ | IMAGE_WRITE};

    image_add_mapping(&heap->image, &mapping);
}

static void begin(struct heap *heap, unsigned word, bool newer)
{
    uint64_t data;

    memset(heap, 0, sizeof(*heap));
    heap->word = word;
    heap->newer = newer;
    data = heap_address(heap, HEAP_DATA);
    heap->libc = (struct object){.path = "/lib/libc.so.6",
                                 .start = data,
                                 .end = data + HEAP_DATA_SIZE,
                                 .data_start = data,
                                 .data_end = data + HEAP_DATA_SIZE};
    image_begin(&heap->image, arena_begin());
    heap->image.word = word;
    heap->image.read = read_heap;
    heap->image.source = heap;
    add_mapping(heap, HEAP_START, sizeof(heap->bytes), NULL);
    add_mapping(heap, HEAP_DATA, sizeof(heap->data), "/lib/libc.so.6");
    add_mapping(heap, HEAP_STACK, sizeof(heap->stack), "[stack]");
    image_sort(&heap->image);
    heap->image.main_stack = heap_address(heap, HEAP_STACK) + sizeof(heap->stack) - 8;
    heap->thread = image_add_thread(&heap->image, 1);
    heap->thread->sp = heap_address(heap, HEAP_STACK) + 0x800;
    heap->objects = (struct objects){.image = &heap->image, .object = &heap->libc, .count = 1};
    for (unsigned i = 1; i <= 127; i++) {
        uint64_t pair = HEAP_ARENA + bins_of(heap) + header_of(heap) * (i - 1);

        heap_put(heap, pair, pair - header_of(heap));
        heap_put(heap, pair + word, pair - header_of(heap));
    }
    heap_put(heap, HEAP_ARENA + bins_of(heap) + 254 * word + 16, HEAP_ARENA);
    heap->next = heap_address(heap, HEAP_START) + 16 - header_of(heap);
    heap->previous_in_use = 1;
    heap_add(heap, (2 + word) * lists_of(heap)); /* the cache of the thread */
    for (unsigned list = 0; newer && list < lists_of(heap); list++)
        heap_cache(heap, list, NULL, 0, true);
}

void heap_begin(struct heap *heap)
{
    begin(heap, 8, false);
}

void heap_begin_newer(struct heap *heap)
{
    begin(heap, 8, true);
}

void heap_begin_32(struct heap *heap)
{
    begin(heap, 4, false);
}

void heap_end(struct heap *heap)
{
    image_end(&heap->image);
    arena_end(heap->image.mem);
}

static uint64_t add_chunk(struct heap *heap, uint64_t size, bool used)
{
    uint64_t chunk = (size + heap->word + 15) & ~(uint64_t)15, at = heap->next;

    if (chunk < 2 * header_of(heap))
        chunk = 2 * header_of(heap);
    heap_put(heap, at + heap->word, chunk | heap->previous_in_use);
    heap->previous_in_use = used;
    heap->next += chunk;
    if (!used)
        heap_put(heap, heap->next, chunk);
    return at + header_of(heap);
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
    uint64_t rest = heap_address(heap, HEAP_START) + sizeof(heap->bytes) - heap->next;

    heap_put(heap, heap->next + heap->word, rest | heap->previous_in_use);
    heap_put(heap, HEAP_ARENA + bins_of(heap) - header_of(heap), heap->next);
}

void heap_cache(struct heap *heap, unsigned list, const uint64_t *blocks, unsigned count,
                bool mangled)
{
    uint16_t counted = (uint16_t)(heap->newer ? HEAP_CACHED - count : count);

    memcpy(heap->bytes + 16 + 2 * list, &counted, sizeof(counted));
    heap_put(heap, HEAP_START + 16 + 2 * lists_of(heap) + heap->word * list, count ? blocks[0] : 0);
    for (unsigned i = 0; i < count; i++)
        heap_put(heap, blocks[i],
                 (i + 1 < count ? blocks[i + 1] : 0) ^ (mangled ? blocks[i] >> 12 : 0));
}

void heap_fast(struct heap *heap, unsigned bin, const uint64_t *blocks, unsigned count)
{
    const uint64_t bins = HEAP_ARENA + (heap->word == 4 ? 12 : 16), header = header_of(heap);

    heap_put(heap, bins + heap->word * bin, blocks[0] - header);
    for (unsigned i = 0; i < count; i++)
        heap_put(heap, blocks[i], (i + 1 < count ? blocks[i + 1] - header : 0) ^ blocks[i] >> 12);
}
