#include "preload/roots/preexisting_heap.h"
#include "preload/interpose/real_functions.h"

#define BEFORE 16 /* of a block, to the beginning of its chunk */
#define LEAST 32
#define PREVIOUS_IN_USE 1ul
#define MMAPPED 2ul

struct walk {
    uintptr_t end; /* of the heap */
    void (*visit)(uintptr_t start, size_t size, void *context);
    void *context;
};

static uint64_t size_word(uintptr_t chunk)
{
    return ((const uint64_t *)chunk)[1];
}

/* 0: there is no chunk, or nobody knows. */
static uint64_t chunk_size(const struct walk *walk, uintptr_t chunk)
{
    if (chunk % BEFORE || chunk + BEFORE > walk->end || size_word(chunk) & MMAPPED)
        return 0;
    uint64_t size = size_word(chunk) & ~7ull;
    return size >= LEAST && size % BEFORE == 0 && size <= walk->end - chunk ? size : 0;
}

static uint64_t mark; /* of what waits in a thread's cache; 0: not known */

void older_learn(void)
{
    uint64_t *block = real.malloc(24);
    if (!block)
        return;
    real.free(block);
    uint64_t word;
    __asm__ volatile("" : "+r"(block) : : "memory"); /* freed it is still there: small ones stay */
    word = block[1];
    mark = word >> 32 ? word : 0;
}

/* The last one of a heap is what has not been given out yet. */
static bool is_free(const struct walk *walk, uintptr_t chunk, uint64_t size)
{
    uintptr_t next = chunk + size;
    return next + BEFORE > walk->end || !(size_word(next) & PREVIOUS_IN_USE) ||
           (mark && size_word(chunk + BEFORE) == mark);
}

/* Up to a block that is known, or the end. */
static void walk_to(const struct walk *walk, uintptr_t chunk, uintptr_t block)
{
    uint64_t size;
    while (chunk + BEFORE < block && (size = chunk_size(walk, chunk))) {
        if (chunk + size > block)
            return;
        if (is_free(walk, chunk, size))
            walk->visit(chunk + BEFORE, size - BEFORE, walk->context);
        chunk += size;
    }
}

static uint32_t see_heap(const struct walk *walk, uintptr_t start, const struct reach *reach,
                         uint32_t block, bool glibc)
{
    uintptr_t chunk = glibc ? start : walk->end;
    for (; block < reach_count(reach) && reach_address(reach, block) < walk->end; block++) {
        uintptr_t address = reach_address(reach, block);
        walk_to(walk, chunk, address);
        walk->visit(address, reach_size(reach, block), walk->context);
        uint64_t size = glibc && address - start >= BEFORE ? chunk_size(walk, address - BEFORE) : 0;
        chunk = size ? address - BEFORE + size : walk->end;
    }
    walk_to(walk, chunk, walk->end);
    return block;
}

void older_each_known(const struct heaps *heaps, const struct reach *reach, bool glibc,
                      void (*visit)(uintptr_t start, size_t size, void *context), void *context)
{
    uint32_t block = 0;
    for (uint32_t i = 0; i < heaps->count; i++) {
        const struct heap *heap = &heaps->heap[i];
        const struct walk walk = {heap->end, visit, context};
        while (block < reach_count(reach) && reach_address(reach, block) < heap->start)
            block++;
        block = see_heap(&walk, heap->start, reach, block, glibc);
    }
}
