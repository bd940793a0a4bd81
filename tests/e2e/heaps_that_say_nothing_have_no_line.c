// What is no list that only grows: blocks freed as others come, a small list, one large block, and blocks freed long
// before the end. None of them is said to be alive at once, and none is an owner to speak of.
// RUN: %run %t turnover
// RUN: %run %t small
// RUN: %run %t large
// REFUSE: alive at once
// REFUSE: Largest owner

#include <stdlib.h>
#include <string.h>

#define MOST 4000

static void *kept[MOST];

static __attribute__((noinline)) void *make(size_t size)
{
    void *block = malloc(size);
    memset(block, 1, size);
    return block;
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";

    if (strcmp(how, "turnover") == 0) {
        for (int i = 0; i < 20000; i++) {
            free(kept[i % MOST]);
            kept[i % MOST] = make(100);
        }
    } else if (strcmp(how, "small") == 0) {
        for (int i = 0; i < MOST; i++)
            kept[i] = make(40);
    } else if (strcmp(how, "large") == 0) {
        kept[0] = make(16 << 20);
    }
    for (int i = 0; i < MOST; i++)
        free(kept[i]);
    return 0;
}
