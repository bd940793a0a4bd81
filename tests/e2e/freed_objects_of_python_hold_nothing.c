// Promise 2.2: with Python's own allocator, too, a block is lost when the object that held it is freed, although its pool
// still has the pointer; what objects hold is reachable. Without lost blocks the report says what is not recorded.
// NEEDS: /usr/bin/python3
// CFLAGS: -O1 -g -fno-builtin -shared -fPIC
// ENV: LIBLEAK_OPTIONS=dir=%d/store
// RUN: LD_PRELOAD=%O/libleak.so /usr/bin/python3 %S/lib/python_holders.py %t
// RUN: PYTHONMALLOC=malloc LD_PRELOAD=%O/libleak.so /usr/bin/python3 %S/lib/python_holders.py %t
// RUN: LD_PRELOAD=%O/libleak.so /usr/bin/python3 -c 'import os; kept = [object() for i in range(1000)]; os._exit(0)'
// RUN: PYTHONMALLOC=malloc LD_PRELOAD=%O/libleak.so /usr/bin/python3 -c 'import os; kept = [object() for i in range(1000)]; os._exit(0)'
// RUN: PYTHONMALLOC=malloc LD_PRELOAD=%O/libleak.so /usr/bin/python3 -c 'import os; kept = {i: (i, [i], {"n": (i, str(i))}) for i in range(300)}; os._exit(0)'
// EXPECT: ^made 210 blocks$
// JSON: all(sum(r.blocks for r in hits("make_lost", q) if r.verdict == "lost") >= 195 for q in procs[:2])
// JSON: all(sum(r.blocks for r in hits("make_held", q) if r.verdict == "reachable") == 10 for q in procs[:2])
// JSON: [any("PYTHONMALLOC" in n for n in q.notes) for q in procs] == [False, False, True, False, False]
// JSON: sum(r.blocks for r in procs[4].records if r.verdict == "possible" and not r.suppressed_by) == 0

#include <stdlib.h>

__attribute__((noinline)) void *make_held(void)
{
    return malloc(5000);
}

__attribute__((noinline)) void *make_lost(void)
{
    return malloc(5000);
}
