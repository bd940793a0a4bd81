// A program that pushes no tag has none in its records and no table of names in its store, and all that it allocates is
// under none; one that only pops and asks has not either.
// RUN: %leak %t; /usr/bin/python3 -c 'import struct, sys; f = open(sys.argv[1], "rb"); used = struct.unpack_from("<Q", f.read(4096), 32)[0]; [print("chunk", k) for m, k in (struct.unpack("<II", f.read(4096)[:8]) for _ in range(used // 4096 - 1)) if m == 0x4b4e4843]' store/*.leak; %report --by=tag store/*.leak; %report store/*.leak; %report --format=heap store/*.leak
// EXPECT: ^popped -1 -1$
// EXPECT: ^chunk 6$
// REFUSE: ^chunk 20$
// EXPECT: ^100.0 % +50 +1 +1  \[no tag\]$
// REFUSE: under the tag
// JSON: len(p.records) > 0 and all(r.tags == [] for r in p.records)

#include "../../include/libleak.h"

#include <stdio.h>
#include <stdlib.h>

static void *volatile sink;

int main(void)
{
    struct libleak_counts counts;
    int popped = LIBLEAK_TAG_POP();
    printf("popped %d %d\n", popped, LIBLEAK_COUNT_TAG("mesh", &counts));
    sink = malloc(50);
    sink = NULL;
    return 0;
}
