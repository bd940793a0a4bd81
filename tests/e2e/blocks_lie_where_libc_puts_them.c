// Nothing is put around a block and none is put elsewhere: the same program, with libleak and without, has each of
// its blocks at the same distance from the first one, with the same room in it, also when freed ones are used again.
// With a quarantine, which keeps freed blocks back, they do lie elsewhere: the comparison can tell.
// RUN: LD_PRELOAD= %t >alone
// RUN: %leak %t >watched
// RUN: env LD_PRELOAD=%O/libleak.so LIBLEAK_OPTIONS=dir=%d/kept:quarantine=1048576 %t >kept_back
// RUN: wc -l <alone; cmp alone watched && echo the same; cmp -s alone kept_back || echo elsewhere
// EXPECT: ^2000$
// EXPECT: ^the same$
// EXPECT: ^elsewhere$

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>

enum { BLOCKS = 64, STEPS = 2000 };

int main(void)
{
    static char out[1 << 16];
    static char *block[BLOCKS];
    unsigned random = 1;

    setvbuf(stdout, out, _IOFBF, sizeof out); /* stdio's own block comes before ours, or never */
    char *first = malloc(1);
    for (int step = 0; step < STEPS; step++) {
        random = random * 1103515245u + 12345u;
        char **one = &block[random >> 16 & (BLOCKS - 1)];
        size_t size = 1 + (random >> 8 & 4095);
        if (*one && random >> 30 == 0) {
            *one = realloc(*one, size);
        } else {
            free(*one);
            *one = random >> 30 == 1 ? calloc(1, size) : random >> 30 == 2 ? memalign(64, size) : malloc(size);
        }
        printf("%td %zu\n", *one - first, malloc_usable_size(*one));
    }
    for (int i = 0; i < BLOCKS; i++)
        free(block[i]);
    free(first);
    return 0;
}
