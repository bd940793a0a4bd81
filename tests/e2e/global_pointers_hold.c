// Pointers in globals, initialised, zeroed, static, in arrays and structures, of the program and of a
// library: reachable; left out by roots=: lost. (LeakSanitizer: use_globals_initialized, _uninitialized.)
// CFLAGS: -O0 -g -fno-builtin
// CFLAGS: -O2 -g -fno-builtin
// RUN: %leak %t; LIBLEAK_OPTIONS=roots=stacks,registers,tls,user,anon; %leak %t
// JSON: len(procs) == 2 and verdict("dropped", procs[0]) == {"lost": (1, 88)}
// JSON: verdict("in_data", procs[0]) == {"reachable": (1, 24)} and verdict("in_bss", procs[0]) == {"reachable": (1, 40)} and verdict("in_function", procs[0]) == {"reachable": (1, 56)} and verdict("in_structure", procs[0]) == {"reachable": (1, 72)}
// JSON: root("in_data", procs[0]).cls == "globals" and root("in_data", procs[0]).variable == "data"
// JSON: root("in_bss", procs[0]).cls == "globals" and root("in_bss", procs[0]).variable == "bss"
// JSON: root("in_structure", procs[0]).variable == "structures"
// JSON: verdict("in_data", procs[1]) == {"lost": (1, 24)} and verdict("in_bss", procs[1]) == {"lost": (1, 40)} and verdict("in_function", procs[1]) == {"lost": (1, 56)} and verdict("in_structure", procs[1]) == {"lost": (1, 72)}

#include "lib/verdicts.h"

TAKE(in_data, 24)
TAKE(in_bss, 40)
TAKE(in_function, 56)
TAKE(in_structure, 72)
LOSE(dropped, 88)
void *data = &sink, *bss;
struct { int i; void *p; } structures[10] = { { 1 } };

FAR static void in_function_keep(void *p)
{
    static void *volatile local = &sink;
    local = p;
}

int main(void)
{
    data = in_data();
    bss = in_bss();
    structures[7].p = in_structure();
    in_function_keep(in_function());
    dropped();
    return 0;
}
