/* Containers of macros: arrays that grow by realloc, lists of queue.h's kind, statement expressions. */
#include <stdlib.h>
#include <string.h>
#include "keep.h"

#define ARRAY(type)                                                                                \
    struct {                                                                                       \
        type *items;                                                                               \
        size_t count, room;                                                                        \
    }
#define ARRAY_ADD(array, item)                                                                     \
    do {                                                                                           \
        if ((array)->count == (array)->room) {                                                     \
            (array)->room = (array)->room ? 2 * (array)->room : 4;                                 \
            (array)->items = realloc((array)->items, (array)->room * sizeof(*(array)->items));     \
        }                                                                                          \
        (array)->items[(array)->count++] = (item);                                                 \
    } while (0)
#define NEW(type) ((type *)calloc(1, sizeof(type)))
#define NEW_CHECKED(type)                                                                          \
    ({                                                                                             \
        type *made_ = malloc(sizeof(type));                                                        \
        if (!made_)                                                                                \
            abort();                                                                               \
        memset(made_, 0, sizeof(type));                                                            \
        made_;                                                                                     \
    })
#define SLIST_ENTRY(type)                                                                          \
    struct {                                                                                       \
        struct type *next;                                                                         \
    }

struct place {
    double latitude, longitude;
    const char *name;
};

struct route {
    ARRAY(struct place) places;
    ARRAY(short) heights;
    ARRAY(struct route *) forks;
};

struct task {
    int priority;
    SLIST_ENTRY(task) link;
    char title[20];
};

struct stack_cell {
    void *item;
    struct stack_cell *below;
};

static struct task *tasks;

__attribute__((noinline)) static struct route *route_new(void)
{
    struct route *route = NEW(struct route); // TYPE struct route

    return route;
}

__attribute__((noinline)) static void route_add(struct route *route, int i)
{
    ARRAY_ADD(&route->places, ((struct place){i, i, "here"})); // TYPE struct place
}

__attribute__((noinline)) static void route_climb(struct route *route, short height)
{
    ARRAY_ADD(&route->heights, height); // TYPE short|short int
}

__attribute__((noinline)) static void route_fork(struct route *route, struct route *other)
{
    ARRAY_ADD(&route->forks, other); // TYPE struct route *
}

__attribute__((noinline)) static void task_add(int priority)
{
    struct task *task = NEW_CHECKED(struct task); // TYPE struct task

    task->priority = priority;
    task->link.next = tasks;
    tasks = task;
}

__attribute__((noinline)) static void push(struct stack_cell **top, void *item)
{
    struct stack_cell *cell = NEW(struct stack_cell); // TYPE struct stack_cell

    cell->item = item;
    cell->below = *top;
    *top = cell;
}

int main(void)
{
    struct stack_cell *top = NULL;

    for (int i = 0; i < 6; i++) {
        struct route *route = route_new();

        for (int k = 0; k < 9; k++) {
            route_add(route, k);
            route_climb(route, (short)k);
            route_fork(route, route);
        }
        task_add(i);
        push(&top, route);
        keep(route);
    }
    keep(top);
    return 0;
}
