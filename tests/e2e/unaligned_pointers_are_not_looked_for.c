// A pointer stored at an address that is no multiple of eight is not found: the block is lost, as documented.
// (LeakSanitizer: use_unaligned=0. Compilers do not store so, packed structures do.)
// CFLAGS: -O0 -g -fno-builtin
// CFLAGS: -O2 -g -fno-builtin
// JSON: verdict("packed") == {"lost": (1, 40)}
// JSON: verdict("aligned") == {"reachable": (1, 56)}

#include "lib/verdicts.h"

static struct __attribute__((packed, aligned(8))) { char c; void *p; } holder;
static void *volatile global;
TAKE(packed, 40)
TAKE(aligned, 56)

int main(void)
{
    holder.p = packed();
    global = aligned();
    opaque(&holder);
    return 0;
}
