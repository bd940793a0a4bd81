// Hard case 10: a coroutine on a stack from malloc, parked by setjmp: its jump buffer holds the stack
// pointer mangled, so the stack is hidden and not lost, with what the coroutine's frames hold; at
// least when nothing else points into the stack.
// CFLAGS: -O0 -g -fno-builtin
// CFLAGS: -O2 -g -fno-builtin
// EXPECT: ^in the coroutine
// JSON: all(v in ("hidden", "possible", "reachable", "indirect") for v in verdict("stack_of_it"))
// JSON: of("stack_of_it").blocks == 1 and of("local_of_it").blocks == 1
// JSON: lost_total == (0, 0)

#include "lib/verdicts.h"
#include <setjmp.h>
#include <ucontext.h>

static sigjmp_buf here, parked;
static ucontext_t home;
TAKE(local_of_it, 40)
FAR static void *stack_of_it(void) { return opaque(malloc(65536)); }

static void body(void)
{
    void *volatile local = local_of_it();

    write(1, "in the coroutine\n", 17);
    if (!__builtin_setjmp || !_setjmp(parked))
        _longjmp(here, 1);
    exit(!local);
}

FAR static void start(void)
{
    ucontext_t context;

    getcontext(&context);
    context.uc_stack.ss_sp = stack_of_it();
    context.uc_stack.ss_size = 65536;
    context.uc_link = NULL;
    makecontext(&context, body, 0);
    if (!_setjmp(here))
        setcontext(&context);
    memset(&context, 0, sizeof context);
    opaque(&context);
}

int main(void)
{
    start();
    scrub();
    return 0;
}
