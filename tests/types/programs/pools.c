/* Chunks that the program divides, and headers in front of what callers get. */
#include <stdint.h>
#include <stdlib.h>
#include "keep.h"

struct object {
    struct object *next_free;
    int data[6];
};

struct chunk {
    struct chunk *next;
    struct object objects[8];
};

struct header {
    size_t size;
    uint32_t magic, flags;
};

static struct chunk *chunks;
static struct object *free_list;

static void chunk_new(void)
{
    struct chunk *chunk = malloc(sizeof(*chunk)); // TYPE struct chunk

    chunk->next = chunks;
    chunks = chunk;
    for (int i = 0; i < 8; i++) {
        chunk->objects[i].next_free = free_list;
        free_list = &chunk->objects[i];
    }
}

static struct object *object_new(void)
{
    struct object *object;

    if (!free_list)
        chunk_new();
    object = free_list;
    free_list = object->next_free;
    return object;
}

__attribute__((noinline)) static void *with_header(size_t size)
{
    struct header *header = malloc(sizeof(*header) + size); // TYPE none

    header->size = size;
    header->magic = 0xfeed;
    return header + 1;
}

__attribute__((noinline)) static void *with_size(size_t size)
{
    size_t *block = malloc(size + sizeof(*block)); // TYPE none

    block[0] = size;
    block++;
    return block;
}

struct slot {
    struct slot *next;
};

static struct slot *free_slots;

/* Slots of 40 bytes for anything; only those that are free are linked. */
__attribute__((noinline)) static void *slots_new(int count)
{
    void *start = malloc(40 * (size_t)count); // TYPE none
    struct slot *slot = start;

    for (int i = 0; i < count; i++) {
        slot->next = free_slots;
        free_slots = slot;
        slot = (struct slot *)((char *)slot + 40);
    }
    return start;
}

static inline void *inlined(size_t size)
{
    size_t *block = malloc(size + sizeof(*block)); // TYPE none

    block[0] = size;
    return block + 1;
}

int main(void)
{
    for (int i = 0; i < 30; i++)
        keep(object_new());
    for (int i = 0; i < 5; i++)
        keep(with_header(7 * (size_t)i + 3));
    for (int i = 0; i < 5; i++)
        keep(with_size(8 * (size_t)i + 8));
    keep(slots_new(10));
    for (int i = 0; i < 5; i++)
        keep(inlined(8 * (size_t)i + 8));
    for (int i = 0; i < 5; i++)
        keep(with_header(16 * (size_t)i + 16));
    return 0;
}
