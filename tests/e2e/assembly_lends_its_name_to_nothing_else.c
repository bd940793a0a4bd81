// In a stripped program, a function of assembly without a size and without an unwind table names its own code, and neither the C
// functions behind it, whose names were stripped, nor, where it is _init, what is in another section.
// NEEDS: /lib64/ld-linux-x86-64.so.2
// BUILD: cc -w -g0 -O1 -fno-toplevel-reorder -fno-optimize-sibling-calls -rdynamic -o %d/behind %s
// BUILD: cc -w -g0 -O1 -fno-toplevel-reorder -fno-optimize-sibling-calls -Wl,--export-dynamic-symbol=early -fno-asynchronous-unwind-tables -fno-omit-frame-pointer -DINIT -o %d/init %s
// BUILD: strip %d/behind %d/init
// NOBUILD:
// RUN: for p in behind init; do %leak %d/$p || exit 1; done
// JSON: len(procs) == 2 and all(q.summary.lost.blocks == 2 for q in procs)
// JSON: sorted((r.bytes, r.frames[0].function, r.frames[1].function) for r in procs[0].records) == [(200, "assembled", "main"), (300, None, "main")]
// JSON: all(f.function is None for r in procs[1].records for f in r.frames[:1])

#include <stdlib.h>

void *volatile sink;

#ifdef INIT

__asm__(".section .init\n.globl early\n.type early, @function\nearly:\n.text\n");
#define assembled() (sink = malloc(200))

#else

void assembled(void);
__asm__(".text\n.globl assembled\n.type assembled, @function\nassembled:\n"
        "push %rbp\nmov %rsp, %rbp\nmov $200, %edi\ncall malloc@PLT\npop %rbp\nret\n");

#endif

__attribute__((noinline)) static void behind(void)
{
    sink = malloc(300);
}

int main(void)
{
    assembled();
    behind();
    sink = NULL;
    return 0;
}
