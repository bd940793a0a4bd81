// libleak_mark_reported: blocks that lived by then are reported no more, also if lost only later; --reported lists
// them, and later blocks are reported as usual. Without a leak check after it no block can be omitted, and the report
// says so. libleak_ignore: the block and what it points to are no leak; for a wrong address it returns an error.
// CFLAGS: -O1 -g -fno-builtin
// RUN: %leak %t
// RUN: for with in '' --reported --until=reported; do echo "with $with:" $(%report $with --error-exitcode=9 store/t.*.leak >told; echo "exit $?;"; grep -o '^ *by_[a-z_]*\|[0-9,]* bytes in [0-9]* blocks\? lost ([mr]' told); done
// RUN: %report early | grep -o 'is reported nevertheless'
// EXPECT: ^answers 0 0 -1 -1$
// EXPECT: ^with : exit 9; 400 bytes in 1 block lost \(m by_unmarked$
// EXPECT: ^with --reported: exit 9; 400 bytes in 1 block lost \(m by_unmarked 100 bytes in 1 block lost \(m by_known 40 bytes in 1 block lost \(m by_later$
// EXPECT: ^with --until=reported: exit 9; 100 bytes in 1 block lost \(m by_known 40 bytes in 1 block lost \(m by_later$
// EXPECT: ^is reported nevertheless$

#include "lib/verdicts.h"

static void *volatile held;
TAKE(by_known, 100)
TAKE(by_later, 40)
TAKE(by_unmarked, 400)
TAKE(by_ignored, 1000)

FAR static int ignore(void)
{
    void **block = by_ignored();
    block[1] = by_ignored();
    return libleak_ignore((char *)block + 5);
}

FAR static void lose(void)
{
    by_known();
    held = by_later();
}

int main(void)
{
    int ignored = ignore();
    lose();
    scrub();
    libleak_snapshot();
    printf("answers %d %d %d %d\n", ignored, libleak_mark_reported(), libleak_ignore(NULL), libleak_ignore(&held));
    if (system("cp store/t.*.leak early"))
        return 1;
    by_unmarked();
    held = NULL;
    scrub();
    return 0;
}
