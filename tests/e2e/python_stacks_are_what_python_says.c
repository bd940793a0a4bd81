// Promise 6.3: each Python frame has its place between the C frames, with the file, line and name that Python
// itself says: recursion, generators, coroutines, exceptions, threads, callbacks from C, code made at run time.
// NEEDS: /usr/bin/python3
// CFLAGS: -O1 -g -fno-builtin -shared -fPIC
// ENV: LIBLEAK_OPTIONS=dir=%d/store:depth=512
// RUN: LD_PRELOAD=%O/libleak.so /usr/bin/python3 %S/lib/python_stacks.py %t %d/said && %report --format=json %d/store/*.leak >%d/report; /usr/bin/python3 %S/lib/python_stacks_agree.py %d/said %d/report
// EXPECT: ^[5-9][0-9] stacks agree$
// JSON: not p.errors and not any("Python" in n for n in p.notes)

#include <stdlib.h>

static void *volatile sink;

/* Each has a name of its own, so that no two blocks have the same stack. */
#define LOSE(n)                                                                                    \
    __attribute__((noinline)) void lose_##n(int size)                                              \
    {                                                                                              \
        sink = malloc((size_t)size * 16);                                                          \
        sink = NULL;                                                                               \
    }
#define LOSE_10(n)                                                                                 \
    LOSE(n##0)                                                                                     \
    LOSE(n##1)                                                                                     \
    LOSE(n##2) LOSE(n##3) LOSE(n##4) LOSE(n##5) LOSE(n##6) LOSE(n##7) LOSE(n##8) LOSE(n##9)
/* clang-format off */
LOSE(0) LOSE(1) LOSE(2) LOSE(3) LOSE(4) LOSE(5) LOSE(6) LOSE(7) LOSE(8) LOSE(9)
LOSE_10(1) LOSE_10(2) LOSE_10(3) LOSE_10(4) LOSE_10(5) LOSE_10(6) LOSE_10(7)
    /* clang-format on */

    void keep_nothing(void)
{
    sink = malloc(100);
    free(sink);
    sink = NULL;
}
