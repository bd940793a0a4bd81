// Hard case 5: an allocator that lays blocks side by side: the pointer one past the end of the first is
// the start of the second, and belongs to that one alone.
// NEEDS: /usr/lib/x86_64-linux-gnu/libjemalloc.so.2
// CFLAGS: -O0 -g -fno-builtin
// CFLAGS: -O2 -g -fno-builtin
// RUN: env "LD_PRELOAD=%O/libleak.so /usr/lib/x86_64-linux-gnu/libjemalloc.so.2" LIBLEAK_OPTIONS=dir=%d/store %t
// EXPECT: side by side
// JSON: verdict("block") == {"lost": (1, 32), "reachable": (1, 32)}

#include "lib/verdicts.h"

TAKE(block, 32)
static void *volatile second;

FAR static int make(void)
{
    char *blocks[1000];
    int found = 0;

    for (int i = 0; i < 1000; i++)
        blocks[i] = block();
    for (int i = 1; i < 1000 && !found; i++)
        if (blocks[i] == blocks[i - 1] + 32) {
            second = blocks[i];
            blocks[i] = blocks[i - 1] = NULL;
            found = 1;
        }
    for (int i = 0; i < 1000; i++)
        free(blocks[i]);
    return found;
}

int main(void)
{
    int found = make();

    scrub();
    write(1, "side by side\n", found ? 13 : 0);
    return !found;
}
