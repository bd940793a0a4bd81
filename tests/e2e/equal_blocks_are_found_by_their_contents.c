// The graph file has a number of each block's content, and leakgraph duplicates says what equal blocks and equal texts
// waste: compared with all contents, which the program prints. Single contents are not listed; content=0 leaves the
// numbers out, and --anonymize the samples.
// CFLAGS: -O1 -g
// RUN: export LIBLEAK_OPTIONS=graph=%d/graph; %leak %t >said && %O/leakgraph graph duplicates --top=0 --json >json && /usr/bin/python3 %S/lib/equal_contents.py said graph json
// EXPECT: ^3000 blocks, [0-9]+ repeated contents: as compared with each other$
// RUN: %O/leakgraph graph duplicates | grep -c 'text .* name-1.* make '; %O/leakgraph graph duplicates --anonymize | grep -c name-1; %O/leakgraph graph duplicates --by=type --json | /usr/bin/python3 -c 'import json, sys; d = json.load(sys.stdin); print(sum(s["wasted_bytes"] for s in d["sites"]) == d["wasted_bytes"])'
// EXPECT: ^1$
// EXPECT: ^0$
// EXPECT: ^True$
// RUN: export LIBLEAK_OPTIONS=graph=%d/none:content=0; %leak %t >/dev/null && %O/leakgraph none duplicates; echo "status $?"; grep -c name-1 none; true
// EXPECT: ^leakgraph: the file has no contents of blocks: .* content=0$
// EXPECT: ^status 1$
// EXPECT: ^0$

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCKS 3000

static unsigned char *kept[BLOCKS];
static size_t sizes[BLOCKS];

static unsigned below(unsigned most)
{
    static unsigned long state = 1;
    state = state * 6364136223846793005 + 1442695040888963407;
    return (unsigned)(state >> 33) % most;
}
__attribute__((noinline)) static unsigned char *make(size_t size)
{
    return calloc(1, size);
}

int main(void)
{
    for (int i = 0; i < BLOCKS; i++) {
        char text[64];
        unsigned what = below(4);
        int length =
            snprintf(text, sizeof text, what == 3 ? "single %d %u" : "name-%d\xc3\xa4 of %u",
                     what == 3 ? i : 1 + (int)below(9), below(40));
        sizes[i] = what < 2 ? (size_t)length + 1 + below(2) : what == 2 ? 8 * (1 + below(40)) : 200;
        kept[i] = make(sizes[i]);
        if (what != 2)
            memcpy(kept[i], text, (size_t)length + 1);
        else
            kept[i][below((unsigned)sizes[i])] = (unsigned char)(128 + below(2));
        if (what == 0)
            kept[i][sizes[i] - 1] = 0;
    }
    setvbuf(stdout, NULL, _IONBF, 0);
    for (int i = 0; i < BLOCKS; i++) {
        char line[1024];
        int at = sprintf(line, "block %p ", (void *)kept[i]);
        for (size_t k = 0; k < sizes[i]; k++)
            at += sprintf(line + at, "%02x", kept[i][k]);
        puts(line);
    }
    return 0;
}
