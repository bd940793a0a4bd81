// Hard case 15: exit is called by a fibre whose stack is a block: what its frames hold is reachable, and
// what main holds, whose frames wait on the thread's own stack, too.
// CFLAGS: -O0 -g -fno-builtin
// CFLAGS: -O2 -g -fno-builtin
// JSON: verdict("in_fibre") == {"reachable": (1, 24)} and verdict("in_main") == {"reachable": (1, 40)}
// JSON: verdict("stack_of_fibre") == {"reachable": (1, 65536)}
// JSON: verdict("dropped") == {"lost": (1, 56)} and lost_total == (1, 56)
// JSON: p.snapshot.rung == "parked" and p.end.value == 0

#include "lib/verdicts.h"
#include <ucontext.h>

TAKE(in_fibre, 24)
TAKE(in_main, 40)
LOSE(dropped, 56)
FAR static void *stack_of_fibre(void) { return opaque(malloc(65536)); }
static ucontext_t home, fibre;

static void body(void)
{
    void *volatile local = in_fibre();

    dropped();
    exit(!local);
}

FAR static void go(void)
{
    getcontext(&fibre);
    fibre.uc_stack.ss_sp = stack_of_fibre();
    fibre.uc_stack.ss_size = 65536;
    makecontext(&fibre, body, 0);
    swapcontext(&home, &fibre);
}

int main(void)
{
    void *volatile local = in_main();

    go();
    return !local;
}
