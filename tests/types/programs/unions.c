/* Variants: a tag and a union, and blocks that are used through a union. */
#include <stdint.h>
#include <stdlib.h>
#include "keep.h"

enum kind { NUMBER, TEXT, PAIR };

struct value {
    enum kind kind;
    union {
        long number;
        char *text;
        struct value *pair[2];
    } u;
};

union cell {
    union cell *next;
    uint64_t words[4];
};

static struct value *value_new(enum kind kind)
{
    struct value *made = calloc(1, sizeof(struct value)); // TYPE struct value

    made->kind = kind;
    return made;
}

static struct value *text_new(size_t length)
{
    struct value *made = value_new(TEXT);

    made->u.text = malloc(length); // TYPE none|char
    made->u.text[0] = 0;
    return made;
}

static union cell *cell_new(union cell *next)
{
    union cell *cell = malloc(sizeof(union cell)); // TYPE union cell

    cell->next = next;
    return cell;
}

int main(void)
{
    union cell *cells = NULL;

    for (int i = 0; i < 10; i++) {
        struct value *pair = value_new(PAIR);

        pair->u.pair[0] = text_new(32);
        pair->u.pair[1] = value_new(NUMBER);
        keep(pair);
        cells = cell_new(cells);
    }
    keep(cells);
    return 0;
}
