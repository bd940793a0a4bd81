/* Links inside of the objects, at the beginning and later; the list knows only links. */
#include <stddef.h>
#include <stdlib.h>
#include "keep.h"

struct link {
    struct link *next, *previous;
};

struct first {
    struct link link;
    long payload[2];
};

struct later {
    int id;
    struct link link;
};

static struct link all = {&all, &all};

__attribute__((noinline)) static void link_add(struct link *link)
{
    link->next = all.next;
    link->previous = &all;
    all.next->previous = link;
    all.next = link;
}

static void first_new(long number)
{
    struct first *made = malloc(sizeof(*made)); // TYPE struct first

    made->payload[0] = number;
    link_add(&made->link);
}

static void later_new(int id)
{
    struct later *made = malloc(sizeof(*made)); // TYPE struct later

    made->id = id;
    link_add(&made->link);
}

int main(void)
{
    for (int i = 0; i < 10; i++) {
        first_new(i);
        later_new(i);
    }
    return 0;
}
