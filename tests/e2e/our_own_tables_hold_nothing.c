// Hard case 11: 200,000 lost blocks, whose addresses stand in libleak's own tables: all are found lost,
// in every size, and the one that is held is the one that is held.
// CFLAGS: -O0 -g -fno-builtin
// CFLAGS: -O2 -g -fno-builtin
// JSON: verdict("dropped") == {"lost": (200000, sum(8 + i % 200 for i in range(200000)))}
// JSON: verdict("held") == {"reachable": (1, 40)}

#include "lib/verdicts.h"

TAKE(held, 40)
static void *volatile global;
FAR static void dropped(int i)
{
    sink = malloc(8 + i % 200);
    sink = NULL;
}

int main(void)
{
    global = held();
    for (int i = 0; i < 200000; i++)
        dropped(i);
    return 0;
}
