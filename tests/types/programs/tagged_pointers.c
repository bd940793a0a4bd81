/* The low bits of pointers say what they point to. */
#include <stdint.h>
#include <stdlib.h>
#include "keep.h"

typedef uintptr_t word;

struct cons {
    word head, tail;
};

struct number {
    double value;
    long unused[3];
};

static word cons_new(word head, word tail)
{
    struct cons *made = malloc(sizeof(*made)); // TYPE struct cons

    made->head = head;
    made->tail = tail;
    return (word)made | 1;
}

static word number_new(double value)
{
    struct number *made = aligned_alloc(32, sizeof(*made)); // TYPE struct number

    made->value = value;
    return (word)made | 2;
}

int main(void)
{
    word list = 0;

    for (int i = 0; i < 10; i++)
        list = cons_new(number_new(i), list);
    keep((void *)list);
    return 0;
}
