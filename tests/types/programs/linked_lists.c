/* Singly and doubly linked lists, made by functions and in loops. */
#include <stdlib.h>
#include <string.h>
#include "keep.h"

struct single {
    struct single *next;
    int value;
};

typedef struct twice {
    struct twice *next, *previous;
    char name[16];
} twice;

struct list {
    twice *first, *last;
    size_t count;
};

static struct single *push(struct single *head, int value)
{
    struct single *made = malloc(sizeof(*made)); // TYPE struct single

    made->next = head;
    made->value = value;
    return made;
}

static struct list *list_new(void)
{
    return calloc(1, sizeof(struct list)); // TYPE struct list
}

static void append(struct list *list, const char *name)
{
    twice *made = calloc(1, sizeof(twice)); // TYPE struct twice

    if (!made)
        abort();
    strncpy(made->name, name, sizeof(made->name) - 1);
    made->previous = list->last;
    if (list->last)
        list->last->next = made;
    else
        list->first = made;
    list->last = made;
    list->count++;
}

int main(void)
{
    struct single *head = NULL;
    struct list *list = list_new();

    for (int i = 0; i < 20; i++) {
        head = push(head, i);
        append(list, "name");
    }
    keep(head);
    keep(list);
    return 0;
}
