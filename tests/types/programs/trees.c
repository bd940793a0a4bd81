/* Trees with colours in pointers, bitmaps, ring buffers, opaque handles, callbacks with contexts. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "keep.h"

struct rb {
    uintptr_t parent_and_color;
    struct rb *left, *right;
};

#define container_of(pointer, type, member) ((type *)((char *)(pointer)-offsetof(type, member)))

struct extent {
    uint64_t start, length;
    struct rb rb;
};

struct trie {
    struct trie *child[16];
    const void *value;
};

struct ring {
    unsigned head, tail, mask;
    struct event {
        int kind;
        void *context;
        uint64_t when;
    } * events;
};

typedef struct opaque_s *handle;

struct opaque_s {
    int descriptor;
    unsigned long *bitmap;
    void (*callback)(handle, void *);
    void *context;
};

static struct rb *root;

__attribute__((noinline)) static void extent_insert(uint64_t start)
{
    struct extent *extent = malloc(sizeof *extent); // TYPE struct extent
    struct rb **link = &root, *parent = NULL;

    extent->start = start;
    extent->length = 1;
    while (*link) {
        parent = *link;
        link =
            container_of(parent, struct extent, rb)->start > start ? &parent->left : &parent->right;
    }
    extent->rb = (struct rb){(uintptr_t)parent | 1, NULL, NULL};
    *link = &extent->rb;
}

__attribute__((noinline)) static void trie_set(struct trie **at, const char *key, const void *value)
{
    for (;;) {
        if (!*at)
            *at = calloc(1, sizeof **at); // TYPE struct trie
        if (!*key)
            break;
        at = &(*at)->child[*key++ % 16];
    }
    (*at)->value = value;
}

__attribute__((noinline)) static struct ring *ring_new(unsigned size)
{
    struct ring *ring = malloc(sizeof *ring); // TYPE struct ring

    *ring = (struct ring){0, 0, size - 1, NULL};
    if (!(ring->events = calloc(size, sizeof *ring->events))) // TYPE struct event
        abort();
    return ring;
}

static void callback(handle of, void *context)
{
    (void)of;
    (void)context;
}

__attribute__((noinline)) static handle handle_open(int descriptor)
{
    handle made = calloc(1, sizeof *made); // TYPE struct opaque_s

    made->descriptor = descriptor;
    made->bitmap = malloc(64 / 8 * sizeof(unsigned long)); // TYPE unsigned long|long unsigned int
    memset(made->bitmap, 0, 64 / 8 * sizeof(unsigned long));
    made->callback = callback;
    return made;
}

int main(void)
{
    static struct trie *trie;

    for (int i = 0; i < 8; i++) {
        char key[4] = {(char)('a' + i), (char)('b' + i), 'x', 0};

        extent_insert((uint64_t)(i * 37 % 11));
        trie_set(&trie, key, key);
        keep(ring_new(8));
        keep(handle_open(i));
    }
    return 0;
}
