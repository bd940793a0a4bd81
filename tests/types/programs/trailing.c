/* Data behind a structure that has no member for it. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "keep.h"

struct name {
    struct name *next;
    size_t length;
    unsigned hash;
}; /* the text follows */

struct shape {
    int kind;
    int color;
};

struct box { /* begins as a shape does */
    int kind;
    int color;
    double width, height;
};

struct disc {
    struct shape base;
    double radius;
};

static struct name *names;

__attribute__((noinline)) static struct name *name_new(const char *text)
{
    size_t length = strlen(text);
    struct name *made = malloc(sizeof *made + length + 1); // TYPE struct name

    made->length = length;
    memcpy(made + 1, text, length + 1);
    made->next = names;
    names = made;
    return made;
}

/* The block is larger than what its first pointer says, because it is another structure. */
__attribute__((noinline)) static struct shape *disc_new(double radius)
{
    struct shape *made = malloc(sizeof(struct disc)); // TYPE none|struct disc

    made->kind = 2;
    ((struct disc *)made)->radius = radius;
    return made;
}

int main(void)
{
    static const char *const texts[] = {"a", "some", "longer texts", "of all sizes, also this one"};

    for (int i = 0; i < 20; i++) {
        keep(name_new(texts[i % 4]));
        keep(disc_new(i));
    }
    return 0;
}
