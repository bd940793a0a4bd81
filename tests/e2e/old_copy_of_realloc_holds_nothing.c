// Hard case 11: a block that moved in realloc, after its pointers were cleared: the old copy holds nothing;
// the new one holds what it has.
// CFLAGS: -O0 -g -fno-builtin
// CFLAGS: -O2 -g -fno-builtin
// JSON: verdict("dropped") == {"lost": (1, 40)}
// JSON: verdict("kept") == {"reachable": (1, 56)}
// JSON: verdict("grow") == {"lost": (1, 40), "reachable": (2, 56 + 100000)}

#include "lib/verdicts.h"

TAKE(dropped, 40)
TAKE(kept, 56)
static void **volatile global;

FAR static void grow(void)
{
    void **p = malloc(1000), *wall = malloc(100);

    p[50] = dropped();
    p[51] = kept();
    p = realloc(p, 100000);
    p[50] = NULL;
    memset((void *)(p + 125), 0, 99000);
    global = p;
    free(wall);
}

int main(void)
{
    grow();
    return 0;
}
