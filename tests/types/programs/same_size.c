/* Types of equal size, objects that begin with a common part, and one function that makes several. */
#include <stdlib.h>
#include "keep.h"

struct shape {
    int kind, references;
};

struct circle {
    struct shape shape;
    double radius;
};

struct square {
    struct shape shape;
    double side;
};

typedef struct polygon {
    struct shape shape;
    struct point2 {
        float x, y;
    } *corners;
} polygon_t;

__attribute__((noinline)) static void shape_init(struct shape *shape, int kind)
{
    shape->kind = kind;
    shape->references = 1;
}

__attribute__((noinline)) static struct shape *circle_new(double radius)
{
    struct circle *made = malloc(sizeof(*made)); // TYPE struct circle

    shape_init(&made->shape, 1);
    made->radius = radius;
    return &made->shape;
}

__attribute__((noinline)) static struct shape *square_new(double side)
{
    struct square *made = malloc(sizeof(*made)); // TYPE struct square

    shape_init((struct shape *)made, 2);
    made->side = side;
    return (struct shape *)made;
}

__attribute__((noinline)) static struct shape *polygon_new(int corners)
{
    polygon_t *made = malloc(sizeof(polygon_t)); // TYPE struct polygon

    shape_init(&made->shape, 3);
    made->corners = malloc((size_t)corners * sizeof(struct point2)); // TYPE struct point2
    return &made->shape;
}

__attribute__((noinline)) static struct shape *any_new(int kind)
{
    if (kind == 1) {
        struct circle *circle = malloc(sizeof(*circle)); // TYPE struct circle

        circle->radius = 1;
        return &circle->shape;
    } else {
        struct square *square = malloc(sizeof(*square)); // TYPE struct square

        square->side = 2;
        return &square->shape;
    }
}

int main(void)
{
    for (int i = 0; i < 10; i++) {
        keep(circle_new(i));
        keep(square_new(i));
        keep(polygon_new(i + 3));
        keep(any_new(i % 2));
    }
    return 0;
}
