/* C11: atomic pointers, _Generic, bit-fields, enumerations, complex numbers, pointers to arrays. */
#include <complex.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include "keep.h"

enum color { RED, GREEN, BLUE };

struct flags {
    unsigned ready : 1, color : 3, kind : 4;
    uint64_t id : 40;
    enum color shade;
};

struct message {
    struct message *_Atomic next;
    _Atomic(int) readers;
    struct flags flags;
    double weight;
};

static struct message *_Atomic mailbox;

/* An optimiser makes a jump to malloc of this: then no variable is left. */
static void *make_ints(size_t count)
{
    int *made = malloc(count * sizeof(*made)); // TYPE int|none

    return made;
}

static void *make_doubles(size_t count)
{
    double *made = malloc(count * sizeof(*made)); // TYPE double|none

    return made;
}

#define MAKE(what, count) _Generic((what), int : make_ints, double : make_doubles)(count)

__attribute__((noinline)) static void push(double weight)
{
    struct message *made = calloc(1, sizeof *made); // TYPE struct message

    made->weight = weight;
    made->next = atomic_exchange(&mailbox, made);
}

__attribute__((noinline)) static struct flags *flags_new(unsigned count)
{
    struct flags *flags = calloc(count, sizeof *flags); // TYPE struct flags

    for (unsigned i = 0; i < count; i++)
        flags[i] = (struct flags){.ready = 1, .color = i % 8, .id = i};
    return flags;
}

__attribute__((noinline)) static enum color *colors_new(unsigned count)
{
    enum color *colors = malloc(count * sizeof *colors); // TYPE enum color

    for (unsigned i = 0; i < count; i++)
        colors[i] = i % 3 == 0 ? RED : BLUE;
    return colors;
}

__attribute__((noinline)) static int (*board_new(unsigned rows))[10]
{
    int(*board)[10] = malloc(rows * sizeof *board); // TYPE int[10]|int

    board[rows - 1][9] = 3;
    return board;
}

__attribute__((noinline)) static double complex *waves_new(unsigned count)
{
    double complex *waves =
        malloc(count * sizeof *waves); // TYPE complex double|_Complex double|complex

    waves[count - 1] = 1.0 + 2.0 * I;
    return waves;
}

typedef int handler(int);

__attribute__((noinline)) static handler **handlers_new(unsigned count)
{
    handler **handlers = calloc(count, sizeof *handlers); // TYPE function *

    handlers[0] = abs;
    return handlers;
}

__attribute__((noinline)) static struct timespec *times_new(void)
{
    struct timespec *times = malloc(5 * sizeof *times); // TYPE struct timespec

    times[4].tv_sec = 1;
    return times;
}

int main(void)
{
    for (int i = 0; i < 12; i++) {
        push(i);
        keep(flags_new(3));
        keep(colors_new(7));
        keep(board_new(4));
        keep(waves_new(3));
        keep(handlers_new(6));
        keep(times_new());
        keep(MAKE(1, 20));
        keep(MAKE(1.0, 30));
    }
    return 0;
}
