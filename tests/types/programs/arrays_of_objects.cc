// new[], with and without a count in front of the objects, and arrays of pointers.
#include <cstddef>
#include "keep.h"

struct Trivial {
    int a, b, c;
};

struct Careful {
    ~Careful() { delete[] data; }
    char *data = nullptr;
    long size = 0;
};

class Grid {
public:
    explicit Grid(size_t rows)
    {
        cells = new double *[rows]; // TYPE double *
    }
    double **cells;
};

__attribute__((noinline)) static void trivial(size_t count)
{
    Trivial *made = new Trivial[count]; // TYPE Trivial

    made[0].a = 1;
    keep(made);
}

__attribute__((noinline)) static void careful(size_t count)
{
    Careful *made = new Careful[count]; // TYPE Careful

    keep(made);
}

__attribute__((noinline)) static void bytes(size_t count)
{
    unsigned char *made = new unsigned char[count]; // TYPE unsigned char

    made[0] = 1;
    keep(made);
}

__attribute__((noinline)) static Grid *grid_new(size_t rows)
{
    return new Grid(rows); // TYPE Grid
}

int main()
{
    for (size_t i = 1; i < 10; i++) {
        trivial(2 * i);
        careful(i);
        bytes(21 * i);
        keep(grid_new(i));
    }
}
