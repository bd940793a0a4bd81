// A program that takes and returns large blocks all the time shall not become slow: fill=auto stops clearing them, and
// the report says how many of those that are in use may contain old pointers. With fill=0 all are cleared, and
// a program below the limit is told nothing.
// CFLAGS: -O1 -g -fno-builtin
// RUN: %leak %t many && (export LIBLEAK_OPTIONS=fill=0; %leak %t many) && %leak %t few && %leak %t none
// JSON: [[n for n in q.notes if "fill" in n] != [] for q in procs] == [True, False, False, False]
// JSON: "1 large block was not cleared when allocated (the limit of fill=auto): old pointers in them may hide leaks; fill=0 clears all" in procs[0].notes
// JSON: [verdict("dropped", q) for q in procs] == [{"reachable": (1, 56)}] + [{"lost": (1, 56)}] * 3

#include "lib/verdicts.h"

#include <malloc.h>

#define SIZE (1 << 20)
#define WORDS (SIZE / sizeof(void *))

TAKE(dropped, 56)
static void *volatile held;

FAR static void use(unsigned times, void *target)
{
    for (unsigned i = 0; i < times; i++) {
        void **block = malloc(SIZE);

        for (size_t word = 300; word < WORDS; word += 1000)
            block[word] = target;
        free(opaque(block));
    }
}

int main(int argc, char **argv)
{
    void *wall;

    mallopt(M_MMAP_THRESHOLD, 8 * SIZE);
    mallopt(M_TRIM_THRESHOLD, 64 * SIZE);
    use(argc > 1 && strcmp(argv[1], "many") == 0 ? 12000 : 10, dropped());
    scrub();
    held = malloc(SIZE);
    wall = malloc(100);
    if (strcmp(argv[1], "none") == 0) {
        free(held);
        held = NULL;
    }
    free(wall);
    return 0;
}
