/* arena.c - an arena of growing pieces; see arena.h. */
#include "common/base/arena.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PIECE ((size_t)64 << 10)
#define ALIGNMENT 16

struct piece {
    struct piece *older;
    size_t size;
};

struct mem {
    struct piece *pieces;
    char *next;
    size_t left;
};

static void *must(void *memory)
{
    if (!memory) {
        fputs("libleak: out of memory\n", stderr);
        exit(2);
    }
    return memory;
}

struct mem *mem_begin(void)
{
    return must(calloc(1, sizeof(struct mem)));
}

void mem_end(struct mem *mem)
{
    if (!mem)
        return;
    while (mem->pieces) {
        struct piece *piece = mem->pieces;

        mem->pieces = piece->older;
        free(piece);
    }
    free(mem);
}

/* A large object gets a piece of its own, and the current piece stays in use. */
static struct piece *add_piece(struct mem *mem, size_t size)
{
    struct piece *piece = must(calloc(1, sizeof(struct piece) + ALIGNMENT + size));

    piece->older = mem->pieces;
    piece->size = size;
    mem->pieces = piece;
    return piece;
}

static char *piece_start(struct piece *piece)
{
    uintptr_t at = (uintptr_t)(piece + 1);

    return (char *)((at + ALIGNMENT - 1) & ~(uintptr_t)(ALIGNMENT - 1));
}

void *mem_take(struct mem *mem, size_t size)
{
    char *at;

    if (size > SIZE_MAX / 2)
        must(NULL);
    size = (size + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
    if (size > PIECE / 4)
        return piece_start(add_piece(mem, size));
    if (size > mem->left) {
        mem->next = piece_start(add_piece(mem, PIECE));
        mem->left = PIECE;
    }
    at = mem->next;
    mem->next += size;
    mem->left -= size;
    return at;
}

void *mem_take_array(struct mem *mem, size_t count, size_t size)
{
    size_t bytes;

    if (__builtin_mul_overflow(count, size, &bytes))
        must(NULL);
    return mem_take(mem, bytes);
}

char *mem_copy(struct mem *mem, const char *text, size_t length)
{
    char *copy = mem_take(mem, length + 1);

    memcpy(copy, text, length);
    return copy;
}

char *mem_format(struct mem *mem, const char *format, ...)
{
    va_list args;
    char *text = NULL;
    char *copy;
    int n;

    va_start(args, format);
    n = vasprintf(&text, format, args);
    va_end(args);
    if (n < 0)
        must(NULL);
    copy = mem_copy(mem, text, (size_t)n);
    free(text);
    return copy;
}

void *mem_more(void *array, size_t *capacity, size_t needed, size_t size)
{
    size_t room = *capacity ? *capacity : 16;
    size_t bytes;

    if (needed <= *capacity)
        return array;
    while (room < needed)
        room += room / 2;
    if (__builtin_mul_overflow(room, size, &bytes))
        must(NULL);
    array = must(realloc(array, bytes));
    *capacity = room;
    return array;
}
