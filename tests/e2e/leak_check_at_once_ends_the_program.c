// __lsan_do_leak_check with something lost: the program ends there with 23, and what it printed is all
// there. Without anything lost it returns, and the check at exit is off then.
// (LeakSanitizer: do_leak_check_override, leak_check_at_exit.)
// CFLAGS: -O0 -g -fno-builtin
// CFLAGS: -O2 -g -fno-builtin
// RUN: %leak %t leaks >out1; echo "leaks: $? $(tr '\n' ' ' <out1)"; %leak %t clean >out2; echo "clean: $? $(tr '\n' ' ' <out2)"
// EXPECT: ^leaks: 23 before (handler )?$
// EXPECT: ^clean: 0 before after handler *$
// JSON: verdict("dropped", procs[0]) == {"lost": (1, 40)} and verdict("dropped", procs[1]) == {}
// JSON: verdict("too_late", procs[1]) in ({"unfreed": (1, 56)}, {})

#include "lib/verdicts.h"
#include "lib/lsan.h"

LOSE(dropped, 40)
LOSE(too_late, 56)
static void handler(void) { puts("handler"); }

int main(int argc, char **argv)
{
    atexit(handler);
    if (!strcmp(argv[1], "leaks"))
        dropped();
    puts("before");
    scrub();
    if (!__lsan_do_leak_check)
        return 1;
    __lsan_do_leak_check();
    puts("after");
    too_late();
    return 0;
}
