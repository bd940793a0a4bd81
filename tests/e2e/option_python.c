// python=off leaves C frames alone, and auto adds the Python frames; the blocks are the same.
// NEEDS: /usr/bin/python3
// CFLAGS: -O1 -g -fno-builtin -shared -fPIC
// RUN: for o in off auto; do LIBLEAK_OPTIONS=dir=%d/store:python=$o LD_PRELOAD=%O/libleak.so /usr/bin/python3 %S/lib/python_calls.py %t; done
// EXPECT: ^called 3 times$
// JSON: [(of("lose", q).blocks, of("lose", q).bytes) for q in procs] == [(3, 300), (3, 300)]
// JSON: [[f.function for f in hits("lose", q)[0].frames if f.get("python")] for q in procs] == [[], ["call", "<module>"]]
// JSON: [(f.line, f.file[-15:]) for f in hits("lose", procs[1])[0].frames if f.get("python")] == [(8, "python_calls.py"), (11, "python_calls.py")]
// JSON: any(f.function == "_PyEval_EvalFrameDefault" for f in hits("lose", procs[0])[0].frames)

#include <stdlib.h>

static void *volatile sink;

__attribute__((noinline)) void lose(void)
{
    sink = malloc(100);
    sink = NULL;
}
