// Of 40 blocks of one stack 38 are lost and two possibly: one item of the text, with both verdicts; two
// records in JSON, as ever. Each stack alone, or with --apart, or without the lost ones: items of their own.
// CFLAGS: -O0 -g -fno-builtin
// CFLAGS: -O2 -g -fno-builtin
// RUN: %leak %t; %report store/*.leak >all; %report --apart store/*.leak >apart; %report --show=possible store/*.leak >some; cat all; grep -c '^[0-9]*\. ' all; grep '^[0-9]*\. ' apart | sed 's/^/apart /'; grep '^[0-9]*\. ' some | sed 's/^/some /'
// EXPECT: ^1\. 1,216 bytes in 38 of [0-9]+ blocks lost
// EXPECT: 38 blocks lost, 2 possibly lost \(64 B\)|38 blocks lost, 2 possibly lost \(64 bytes\)
// EXPECT: only interior pointers: 1 at \+8, from keep
// EXPECT: ^2\. 50 bytes in 1 block possibly lost
// EXPECT: ^2$
// EXPECT: ^apart 2\. 64 bytes in 2 of [0-9]+ blocks possibly lost
// EXPECT: ^some 1\. 64 bytes in 2 of [0-9]+ blocks possibly lost
// REFUSE: ^3\.
// JSON: verdict("make") == {"lost": (38, 38 * 32), "possible": (2, 64)}

#include "lib/verdicts.h"

static char *volatile keep[3];
TAKE(make, 32)
TAKE(other, 50)

FAR static void fill(void)
{
    for (int i = 0; i < 40; i++) {
        char *block = make();
        if (i < 2)
            keep[i] = block + 8 + 8 * i;
    }
    keep[2] = (char *)other() + 8;
}

int main(void)
{
    fill();
    scrub();
    return 0;
}
