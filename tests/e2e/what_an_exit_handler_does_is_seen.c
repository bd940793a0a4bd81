// Hard case 12, in C: an atexit function that drops the last pointer (dropped by exit code), frees (not
// reported), allocates and drops (lost), allocates and keeps (reachable).
// CFLAGS: -O0 -g -fno-builtin
// CFLAGS: -O2 -g -fno-builtin
// JSON: verdict("drops") == {"reachable": (1, 40)} and one("drops").dropped is True
// JSON: of("frees").blocks == 0
// JSON: verdict("born_lost") == {"lost": (1, 24)}
// JSON: verdict("born_kept") == {"reachable": (1, 72)} and not one("born_kept").dropped
// JSON: lost_total == (1, 24)

#include "lib/verdicts.h"

TAKE(drops, 40)
TAKE(frees, 56)
LOSE(born_lost, 24)
TAKE(born_kept, 72)
static void *volatile a, *volatile b, *volatile c;

static void handler(void)
{
    a = NULL;
    free(b);
    b = NULL;
    born_lost();
    c = born_kept();
}

int main(void)
{
    atexit(handler);
    a = drops();
    b = frees();
    return 0;
}
