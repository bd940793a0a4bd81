// Hard case 11: a list whose head is still known but freed, a freed array of pointers, a freed block of
// a thread: what their stale words point to is lost.
// CFLAGS: -O0 -g -fno-builtin
// CFLAGS: -O2 -g -fno-builtin
// JSON: verdict("behind_node") == {"lost": (1, 40)} and verdict("behind_array") == {"lost": (100, 100 * 56)} and verdict("behind_big") == {"lost": (1, 72)}
// JSON: of("node").blocks == 0
// JSON: lost_total == (102, 40 + 5600 + 72)

#include "lib/verdicts.h"

TAKE(node, 48)
TAKE(behind_node, 40)
TAKE(behind_array, 56)
TAKE(behind_big, 72)
static void **volatile dangling;

FAR static void make(void)
{
    void **p = node(), **a = opaque(malloc(300 * sizeof *a)), **b = opaque(malloc(200000));

    p[3] = behind_node();
    for (int i = 50; i < 150; i++)
        a[i] = behind_array();
    b[10000] = behind_big();
    free(p), free(a), free(b);
    dangling = p;
}

int main(void)
{
    make();
    return 0;
}
