// Who owns a reachable block: the shortest way to it, from a named variable through each block on it.
// CFLAGS: -O0 -g -fno-builtin
// CFLAGS: -O2 -g -fno-builtin
// JSON: root("table_of").cls == "globals" and root("table_of").variable == "cache"
// JSON: root("node_of").variable == "cache" and len(one("node_of").path) == len(one("table_of").path) + 1
// JSON: root("value_of").variable == "cache" and len(one("value_of").path) == len(one("table_of").path) + 2
// JSON: verdict("table_of") == {"reachable": (1, 4096)} and one("table_of").retained == {"blocks": 21, "bytes": 4096 + 10 * 64 + 10 * 100}
// JSON: p.owners and p.owners[0].bytes >= 4096

#include "lib/verdicts.h"

TAKE(table_of, 4096)
TAKE(node_of, 64)
TAKE(value_of, 100)
struct { long count; void **table; } cache;

FAR static void fill(void)
{
    cache.table = table_of();
    for (int i = 0; i < 10; i++) {
        void **node = cache.table[2 + 7 * i] = node_of();
        node[7] = value_of();
    }
}

int main(void)
{
    fill();
    return 0;
}
