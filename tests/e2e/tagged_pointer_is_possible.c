// Hard case 10: a pointer with bits set in its low four is a pointer into the block's first bytes:
// possible, and said to be perhaps tagged. An aligned one is not.
// CFLAGS: -O0 -g -fno-builtin
// CFLAGS: -O2 -g -fno-builtin
// JSON: verdict("tag_1") == {"possible": (1, 40)} and one("tag_1").tagged is True
// JSON: verdict("tag_7") == {"possible": (1, 40)} and one("tag_7").tagged is True
// JSON: verdict("tag_15") == {"possible": (1, 40)} and one("tag_15").tagged is True
// JSON: verdict("no_tag") == {"possible": (1, 40)} and not one("no_tag").tagged

#include "lib/verdicts.h"

static volatile unsigned long word[4];
TAKE(tag_1, 40)
TAKE(tag_7, 40)
TAKE(tag_15, 40)
TAKE(no_tag, 40)

FAR static void make(void)
{
    word[0] = (unsigned long)tag_1() | 1;
    word[1] = (unsigned long)tag_7() | 7;
    word[2] = (unsigned long)tag_15() | 15;
    word[3] = (unsigned long)no_tag() + 8;
}

int main(void)
{
    make();
    return 0;
}
