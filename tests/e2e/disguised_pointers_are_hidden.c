// Hard case 10: addresses with bit 63 or a tag in the high 16 bits, shifted right, complemented: not
// pointers, but no accident either: hidden, with the blocks below them. An unknown encoding: lost.
// CFLAGS: -O0 -g -fno-builtin
// CFLAGS: -O2 -g -fno-builtin
// JSON: all(verdict(f) == {"hidden": (1, 200)} for f in ("bit_63", "high_tag", "shifted_1", "shifted_3", "shifted_4", "complement"))
// JSON: verdict("unknown") == {"lost": (1, 200)}
// JSON: lost_total == (1, 200) and p.summary.hidden.blocks >= 6

#include "lib/verdicts.h"

static volatile unsigned long word[7];
TAKE(bit_63, 200)
TAKE(high_tag, 200)
TAKE(shifted_1, 200)
TAKE(shifted_3, 200)
TAKE(shifted_4, 200)
TAKE(complement, 200)
TAKE(unknown, 200)

FAR static void make(void)
{
    word[0] = (unsigned long)bit_63() | 1ul << 63;
    word[1] = (unsigned long)high_tag() | 0xabcdul << 48;
    word[2] = (unsigned long)shifted_1() >> 1;
    word[3] = (unsigned long)shifted_3() >> 3;
    word[4] = (unsigned long)shifted_4() >> 4;
    word[5] = ~(unsigned long)complement();
    word[6] = (unsigned long)unknown() ^ 0x123456789abc0;
}

int main(void)
{
    make();
    return 0;
}
