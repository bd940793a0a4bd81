/* arena.c - an arena of chunks that malloc provides; see arena.h. */
#include "common/base/arena.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK ((size_t)64 << 10)
#define ALIGNMENT 16

struct chunk {
    struct chunk *older;
    size_t size;
};

struct arena {
    struct chunk *chunks;
    char *next;
    size_t left;
};

static void *must_have(void *memory)
{
    if (!memory) {
        fputs("libleak: out of memory\n", stderr);
        exit(2);
    }
    return memory;
}

struct arena *arena_begin(void)
{
    return must_have(calloc(1, sizeof(struct arena)));
}

void arena_end(struct arena *arena)
{
    if (!arena)
        return;
    while (arena->chunks) {
        struct chunk *chunk = arena->chunks;

        arena->chunks = chunk->older;
        free(chunk);
    }
    free(arena);
}

/* Allocates a chunk, adds it to the list of chunks to free, and returns it. A large object gets a
 * chunk of its own, and arena->next stays in the older chunk, whose rest holds the next small
 * objects. */
static struct chunk *add_chunk(struct arena *arena, size_t size)
{
    struct chunk *chunk = must_have(calloc(1, sizeof(struct chunk) + ALIGNMENT + size));

    chunk->older = arena->chunks;
    chunk->size = size;
    arena->chunks = chunk;
    return chunk;
}

static char *chunk_start(struct chunk *chunk)
{
    uintptr_t at = (uintptr_t)(chunk + 1);

    return (char *)((at + ALIGNMENT - 1) & ~(uintptr_t)(ALIGNMENT - 1));
}

void *arena_alloc(struct arena *arena, size_t size)
{
    char *at;

    if (size > SIZE_MAX / 2)
        must_have(NULL);
    size = (size + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
    if (size > CHUNK / 4)
        return chunk_start(add_chunk(arena, size));
    if (size > arena->left) {
        arena->next = chunk_start(add_chunk(arena, CHUNK));
        arena->left = CHUNK;
    }
    at = arena->next;
    arena->next += size;
    arena->left -= size;
    return at;
}

void *arena_alloc_array(struct arena *arena, size_t count, size_t size)
{
    size_t bytes;

    if (__builtin_mul_overflow(count, size, &bytes))
        must_have(NULL);
    return arena_alloc(arena, bytes);
}

char *arena_copy(struct arena *arena, const char *text, size_t length)
{
    char *copy = arena_alloc(arena, length + 1);

    memcpy(copy, text, length);
    return copy;
}

char *arena_copy_text(struct arena *arena, const char *text)
{
    return text ? arena_copy(arena, text, strlen(text)) : NULL;
}

char *arena_format(struct arena *arena, const char *format, ...)
{
    va_list args;
    char *text = NULL;
    char *copy;
    int n;

    va_start(args, format);
    n = vasprintf(&text, format, args);
    va_end(args);
    if (n < 0)
        must_have(NULL);
    copy = arena_copy(arena, text, (size_t)n);
    free(text);
    return copy;
}

void *array_grow(void *array, size_t *capacity, size_t needed, size_t size)
{
    size_t room = *capacity ? *capacity : 16;
    size_t bytes;

    if (needed <= *capacity)
        return array;
    while (room < needed)
        room += room / 2;
    if (__builtin_mul_overflow(room, size, &bytes))
        must_have(NULL);
    array = must_have(realloc(array, bytes));
    *capacity = room;
    return array;
}
