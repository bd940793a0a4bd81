// Hard case 12: a pool that is freed while its members live: they are lost, each for itself.
// CFLAGS: -O0 -g -fno-builtin
// CFLAGS: -O2 -g -fno-builtin
// JSON: verdict("member") == {"lost": (50, 50 * 24)} and one("member").retained == {"blocks": 50, "bytes": 50 * 24}
// JSON: verdict("pool") == verdict("member") and lost_total == (50, 50 * 24)

#include "lib/verdicts.h"

TAKE(member, 24)
FAR static void pool(void)
{
    void **members = malloc(50 * sizeof *members);

    for (int i = 0; i < 50; i++)
        members[i] = member();
    free(members);
}

int main(void)
{
    pool();
    return 0;
}
