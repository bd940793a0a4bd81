// Hard case 10: a coroutine on a stack from malloc, parked by setjmp: its jump buffer holds the stack
// pointer mangled, so the stack is hidden at least (another register kept there may point into it, and
// make it possible), and never lost; nor is what the coroutine's frames hold.
// CFLAGS: -O0 -g -fno-builtin
// CFLAGS: -O2 -g -fno-builtin
// EXPECT: ^in the coroutine
// JSON: list(verdict("stack_of_it")) in (["hidden"], ["possible"])
// JSON: of("stack_of_it").blocks == 1 and of("local_of_it").blocks == 1
// JSON: lost_total == (0, 0)

#include "lib/verdicts.h"
#include <setjmp.h>
#include <ucontext.h>

static jmp_buf here, parked;
TAKE(local_of_it, 40)
FAR static void *stack_of_it(void) { return opaque(malloc(65536)); }

static void body(void)
{
    void *volatile local = local_of_it();

    write(1, "in the coroutine\n", 17);
    if (!_setjmp(parked))
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
