// A zeroed block whose only pointer is to start + 24 has length 0 and capacity 0, as an empty std::string
// would; but a string fills its block.
// CFLAGS: -O0 -g -fno-builtin
// CFLAGS: -O2 -g -fno-builtin
// JSON: verdict("zeros") == {"possible": (1, 200000)}
// JSON: verdict("text") == {"reachable": (1, 24 + 6)} and verdict("wide") == {"reachable": (1, 24 + 24)}
// JSON: verdict("too_large") == {"possible": (1, 24 + 16)}

#include "lib/verdicts.h"

static char *volatile held[4];
TAKE(zeros, 200000)
TAKE(text, 24 + 6)
TAKE(wide, 24 + 24)
TAKE(too_large, 24 + 16)

FAR static void *string(size_t *head)
{
    head[0] = 3;
    head[1] = 5;
    return head + 3;
}

FAR static void fill(void)
{
    held[0] = (char *)zeros() + 24;
    held[1] = string(text());
    held[2] = string(wide());
    held[3] = string(too_large());
}

int main(void)
{
    fill();
    scrub();
    return 0;
}
