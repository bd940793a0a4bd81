/* Structures that end with an array: [], [0] and [1]. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "keep.h"

struct packet {
    uint32_t length;
    uint8_t data[];
};

struct vector {
    size_t count;
    struct item {
        int id, weight;
    } items[];
};

struct old_style {
    struct old_style *next;
    char name[1];
};

static struct packet *packet_new(uint32_t length)
{
    struct packet *made = malloc(sizeof(struct packet) + length); // TYPE struct packet

    made->length = length;
    memset(made->data, 1, length);
    return made;
}

static struct vector *vector_new(size_t count)
{
    struct vector *made =
        malloc(offsetof(struct vector, items) + count * sizeof(struct item)); // TYPE struct vector

    made->count = count;
    return made;
}

static struct old_style *old_new(struct old_style *next, const char *name)
{
    struct old_style *made = malloc(sizeof(*made) + strlen(name)); // TYPE struct old_style

    made->next = next;
    strcpy(made->name, name);
    return made;
}

int main(void)
{
    struct old_style *list = NULL;

    for (uint32_t i = 1; i < 10; i++) {
        keep(packet_new(13 * i));
        keep(vector_new(i));
        list = old_new(list, "a name");
    }
    keep(list);
    return 0;
}
