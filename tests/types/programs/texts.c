/* Texts and buffers: strdup, asprintf, getline, and growing buffers of bytes. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>
#include "keep.h"

struct buffer {
    char *text;
    size_t used, size;
};

static void buffer_add(struct buffer *buffer, const char *text)
{
    size_t length = strlen(text);

    if (buffer->used + length + 1 > buffer->size) {
        buffer->size = 2 * (buffer->used + length + 1);
        buffer->text = realloc(buffer->text, buffer->size); // TYPE char
    }
    memcpy(buffer->text + buffer->used, text, length + 1);
    buffer->used += length;
}

static void duplicate(const char *text)
{
    char *copy = strdup(text); // TYPE char

    keep(copy);
}

static void print(int number)
{
    char *text;

    if (asprintf(&text, "number %d", number) < 0) // TYPE char
        abort();
    keep(text);
}

static unsigned char *bytes_new(size_t size)
{
    unsigned char *bytes = malloc(size); // TYPE unsigned char

    bytes[0] = 1;
    return bytes;
}

static void wide_new(size_t length)
{
    wchar_t *wide = calloc(length, sizeof(wchar_t)); // TYPE wchar_t

    wide[0] = L'x';
    keep(wide);
}

int main(void)
{
    struct buffer buffer = {0};

    for (int i = 0; i < 10; i++) {
        buffer_add(&buffer, "some words ");
        duplicate("a text");
        print(i);
        keep(bytes_new(33));
        wide_new(12);
    }
    keep(buffer.text);
    return 0;
}
