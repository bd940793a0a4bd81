/* Matrices: pointers to rows, pointers to arrays, and rows that get shorter. */
#include <stdlib.h>
#include "keep.h"

enum { COLUMNS = 12 };

struct cell {
    float value;
    unsigned flags;
};

struct matrix {
    size_t rows, columns;
    double **row;
};

__attribute__((noinline)) static struct matrix *matrix_new(size_t rows, size_t columns)
{
    struct matrix *made = malloc(sizeof(*made)); // TYPE struct matrix

    made->rows = rows;
    made->columns = columns;
    made->row = malloc(rows * sizeof(*made->row)); // TYPE double *
    for (size_t i = 0; i < rows; i++)
        made->row[i] = calloc(columns, sizeof(double)); // TYPE double
    return made;
}

__attribute__((noinline)) static void grid_new(size_t rows)
{
    struct cell(*grid)[COLUMNS] = calloc(rows, sizeof(*grid)); // TYPE struct cell[12]|struct cell

    grid[rows - 1][3].flags = 1;
    keep(grid);
}

__attribute__((noinline)) static void triangle_new(size_t rows)
{
    int **triangle = malloc(rows * sizeof(*triangle)); // TYPE int *

    for (size_t i = 0; i < rows; i++) {
        triangle[i] = malloc((i + 1) * sizeof(**triangle)); // TYPE int
        triangle[i][i] = (int)i;
    }
    keep(triangle);
}

int main(void)
{
    for (size_t i = 0; i < 5; i++) {
        keep(matrix_new(i + 2, i + 4));
        grid_new(i + 2);
        triangle_new(i + 3);
    }
    return 0;
}
