// LSAN_OPTIONS, and __lsan_default_options of the program before it: which roots there are, and whether a
// look is made at exit. (LeakSanitizer: default_options.)
// CFLAGS: -O0 -g -fno-builtin -rdynamic
// CFLAGS: -O2 -g -fno-builtin -rdynamic
// RUN: %leak %t; LSAN_OPTIONS=use_globals=1 %leak %t; LSAN_OPTIONS=verbosity=0,leak_check_at_exit=0 %leak %t; LSAN_OPTIONS=detect_leaks=0 %leak %t
// JSON: len(procs) == 4
// JSON: verdict("in_global", procs[0]) == {"lost": (1, 40)} and verdict("in_global", procs[1]) == {"reachable": (1, 40)}
// JSON: all(verdict("dropped", q) == {"lost": (1, 56)} for q in procs[:2])
// JSON: all(verdict("dropped", q) == {"unfreed": (1, 56)} and verdict("in_global", q) == {"unfreed": (1, 40)} for q in procs[2:])

#include "lib/verdicts.h"

LOSE(dropped, 56)
TAKE(in_global, 40)
static void *volatile global;
const char *__lsan_default_options(void) { return "use_globals=0"; }

int main(void)
{
    global = in_global();
    dropped();
    return 0;
}
