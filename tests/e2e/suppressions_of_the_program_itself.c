// A program that defines __lsan_default_suppressions: the records they name are said to be suppressed by
// them, others not. (LeakSanitizer: suppressions_default, print_suppressions.)
// CFLAGS: -O0 -g -fno-builtin -rdynamic
// CFLAGS: -O2 -g -fno-builtin -rdynamic
// JSON: "known" in str(one("known_leak").suppressed_by) and one("unknown_one").suppressed_by is None
// JSON: of("known_leak").blocks == 2 and verdict("unknown_one") == {"lost": (1, 56)}

#include "lib/verdicts.h"

LOSE(known_leak, 40)
LOSE(unknown_one, 56)
const char *__lsan_default_suppressions(void) { return "# comment\nleak:known_l*k\nleak:no_such_function\n"; }

int main(void)
{
    known_leak(), known_leak();
    unknown_one();
    return 0;
}
