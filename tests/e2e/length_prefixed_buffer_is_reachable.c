// Hard case 6: a buffer that begins with its length and is pointed to behind it (sqlite and many others):
// reachable; a wrong length makes it an interior pointer as any other.
// CFLAGS: -O0 -g -fno-builtin
// CFLAGS: -O2 -g -fno-builtin
// JSON: verdict("right") == {"reachable": (1, 128)}
// JSON: verdict("wrong") == {"possible": (1, 128)}

#include "lib/verdicts.h"

TAKE(right, 128)
TAKE(wrong, 128)
static void *volatile a, *volatile b;

FAR static void make(void)
{
    unsigned long *p = right();

    p[0] = 120;
    a = p + 1;
    p = wrong();
    p[0] = 77;
    b = p + 1;
}

int main(void)
{
    make();
    return 0;
}
