/* Arrays of structures, numbers and pointers, also in more dimensions. */
#include <stdint.h>
#include <stdlib.h>
#include "keep.h"

struct point {
    double x, y, z;
};

typedef struct {
    uint32_t from, to;
} edge;

struct graph {
    struct point *points;
    edge *edges;
    int32_t **rows;
    float *weights;
    size_t count;
};

static struct graph *graph_new(size_t count)
{
    struct graph *graph = malloc(sizeof(*graph)); // TYPE struct graph

    graph->count = count;
    graph->points = malloc(count * sizeof(struct point)); // TYPE struct point
    graph->edges = calloc(2 * count, sizeof(edge));       // TYPE edge
    graph->rows = malloc(count * sizeof(*graph->rows));   // TYPE int32_t *
    return graph;
}

static void fill_rows(struct graph *graph)
{
    for (size_t i = 0; i < graph->count; i++)
        graph->rows[i] = malloc(24 * sizeof(int32_t)); // TYPE int32_t
}

static void add_weights(struct graph *graph)
{
    graph->weights = realloc(graph->weights, 100 * sizeof(float)); // TYPE float
}

int main(void)
{
    struct graph *graph = graph_new(10);

    fill_rows(graph);
    graph->weights = NULL;
    add_weights(graph);
    keep(graph);
    return 0;
}
