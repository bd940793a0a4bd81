// Hard case 5: an iterator at the end is what is left: possible, for sizes with and without slack behind
// them; one byte further, or one before the start, points to nothing.
// CFLAGS: -O0 -g -fno-builtin
// CFLAGS: -O2 -g -fno-builtin
// JSON: verdict("end_40") == {"possible": (1, 40)} and verdict("end_41") == {"possible": (1, 41)} and verdict("end_big") == {"possible": (1, 1000000)}
// JSON: verdict("beyond") == {"lost": (1, 40)} and verdict("before") == {"lost": (1, 40)}
// JSON: lost_total == (2, 80)

#include "lib/verdicts.h"

static char *volatile word[5];
TAKE(end_40, 40)
TAKE(end_41, 41)
TAKE(end_big, 1000000)
TAKE(beyond, 40)
TAKE(before, 40)

FAR static void make(void)
{
    word[0] = (char *)end_40() + 40;
    word[1] = (char *)end_41() + 41;
    word[2] = (char *)end_big() + 1000000;
    word[3] = (char *)beyond() + 41;
    word[4] = (char *)before() - 1;
}

int main(void)
{
    make();
    return 0;
}
