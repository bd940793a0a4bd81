// Promise 4.41: a script loads libleak by ctypes: later leaks of its extension are reported, earlier ones are not; the
// interpreter and its threads run as without libleak.
// NEEDS: /usr/bin/python3
// CFLAGS: -O1 -g -fno-builtin -shared -fPIC
// ENV: LIBLEAK_OPTIONS=dir=%d/store
// RUN: /usr/bin/python3 %S/lib/loads_late.py %t %O/libleak.so
// EXPECT: ^17 and 5050, every thread$
// JSON: len(procs) == 1 and p.end.value == 3 and not p.errors
// JSON: (of("lose_some").blocks, of("lose_some").bytes) == (17, 17 * 200) and "reachable" not in verdict("lose_some")
// JSON: verdict("lose_some")["lost"][0] > 9
// JSON: any("loaded late" in n for n in p.notes)
// EXIT: 3

#include <stdlib.h>

static void *volatile sink;

__attribute__((noinline)) void lose_some(int count)
{
    for (int i = 0; i < count; i++)
        sink = malloc(200);
    sink = NULL;
}
