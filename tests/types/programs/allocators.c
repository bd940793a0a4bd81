/* Allocators behind pointers and chains of wrappers, reallocarray, arrays of arrays. */
#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "keep.h"

struct memory {
    void *(*take)(struct memory *, size_t);
    void *(*change)(struct memory *, void *, size_t);
    size_t total;
};

static void *memory_take(struct memory *memory, size_t size)
{
    memory->total += size;
    return malloc(size);
}

static void *memory_change(struct memory *memory, void *block, size_t size)
{
    memory->total += size;
    return realloc(block, size);
}

static struct memory memory = {memory_take, memory_change, 0};

static void die(void)
{
    fprintf(stderr, "no memory\n");
    exit(2);
}

__attribute__((noinline)) static void *xmalloc(size_t size)
{
    void *made = memory.take(&memory, size ? size : 1);

    if (!made)
        die();
    return made;
}

__attribute__((noinline)) static void *xcalloc(size_t count, size_t size)
{
    if (size && count > SIZE_MAX / size)
        die();
    return memset(xmalloc(count * size), 0, count * size);
}

__attribute__((noinline)) static void *xrealloc(void *block, size_t size)
{
    void *made = memory.change(&memory, block, size);

    if (!made && size)
        die();
    return made;
}

__attribute__((noinline)) static char *xstrdup(const char *text)
{
    size_t length = strlen(text) + 1;

    return memcpy(xmalloc(length), text, length); // TYPE char
}

__attribute__((noinline)) static char *format(const char *pattern, ...)
{
    va_list list;
    char *made;

    va_start(list, pattern);
    if (vasprintf(&made, pattern, list) < 0) // TYPE char
        die();
    va_end(list);
    return made;
}

struct symbol {
    char *name;
    unsigned hash;
    struct symbol *chain;
};

struct table {
    struct symbol **slots;
    unsigned size, used;
};

struct matrix {
    unsigned rows, columns;
    double **cell;
};

__attribute__((noinline)) static struct table *table_new(unsigned size)
{
    struct table *table = xmalloc(sizeof *table); // TYPE struct table

    table->size = size;
    table->used = 0;
    table->slots = xcalloc(size, sizeof *table->slots); // TYPE struct symbol *
    return table;
}

__attribute__((noinline)) static struct symbol *intern(struct table *table, const char *name)
{
    unsigned hash = 5381;
    struct symbol **slot, *symbol;

    for (const char *at = name; *at; at++)
        hash = hash * 33 + (unsigned char)*at;
    slot = &table->slots[hash % table->size];
    for (symbol = *slot; symbol; symbol = symbol->chain)
        if (strcmp(symbol->name, name) == 0)
            return symbol;
    symbol = xcalloc(1, sizeof *symbol); // TYPE struct symbol
    symbol->name = xstrdup(name);
    symbol->hash = hash;
    symbol->chain = *slot;
    *slot = symbol;
    table->used++;
    return symbol;
}

__attribute__((noinline)) static struct matrix *matrix_new(unsigned rows, unsigned columns)
{
    struct matrix *matrix = malloc(sizeof *matrix); // TYPE struct matrix

    matrix->rows = rows;
    matrix->columns = columns;
    matrix->cell = reallocarray(NULL, rows, sizeof *matrix->cell); // TYPE double *
    for (unsigned i = 0; i < rows; i++)
        matrix->cell[i] = calloc(columns, sizeof **matrix->cell); // TYPE double
    return matrix;
}

__attribute__((noinline)) static uint16_t *samples_grow(uint16_t *samples, size_t count)
{
    samples = xrealloc(samples, count * sizeof *samples); // TYPE uint16_t
    samples[count - 1] = 7;
    return samples;
}

int main(void)
{
    char name[32];

    for (int i = 0; i < 5; i++) {
        struct table *table = table_new(16);
        uint16_t *samples = NULL;

        for (int k = 0; k < 12; k++) {
            snprintf(name, sizeof name, "symbol %d of %d", k, i);
            intern(table, name);
            samples = samples_grow(samples, 10 * (size_t)(k + 1));
        }
        keep(table);
        keep(samples);
        keep(matrix_new(4, 6));
        keep(format("%d and %d", i, i));
    }
    return 0;
}
