// Hard case 15: three fibres wait, on a stack from mmap, on one from malloc, on one inside main's own
// frame: their locals hold. The malloc'ed stack of a fibre that is dropped is lost
// (its local may still stand in what the fibres had left in their registers).
// (LeakSanitizer: swapcontext.)
// CFLAGS: -O0 -g -fno-builtin
// CFLAGS: -O2 -g -fno-builtin
// JSON: verdict("local_in_mmap") == {"reachable": (1, 24)} and verdict("local_in_malloc") == {"reachable": (1, 40)} and verdict("local_in_frame") == {"reachable": (1, 56)}
// JSON: verdict("dropped_stack") == {"lost": (1, 65536)}
// JSON: verdict("stack_of_fibre") == {"reachable": (1, 65536)}

#include "lib/verdicts.h"
#include <sys/mman.h>
#include <ucontext.h>

TAKE(local_in_mmap, 24)
TAKE(local_in_malloc, 40)
TAKE(local_in_frame, 56)
TAKE(local_dropped, 72)
FAR static void *stack_of_fibre(void) { return opaque(malloc(65536)); }
FAR static void *dropped_stack(void) { return opaque(malloc(65536)); }

static ucontext_t home, fibre[4];
static void *volatile known;
static void *(*const take[])(void) = { local_in_mmap, local_in_malloc, local_in_frame, local_dropped };

static void body(int i)
{
    void *volatile local = take[i]();

    for (;;)
        swapcontext(&fibre[i], &home);
    opaque(local);
}

FAR static void start(int i, void *stack)
{
    getcontext(&fibre[i]);
    fibre[i].uc_stack.ss_sp = stack;
    fibre[i].uc_stack.ss_size = 65536;
    makecontext(&fibre[i], (void (*)(void))body, 1, i);
    swapcontext(&home, &fibre[i]);
}

FAR static void start_all(char *inside)
{
    start(0, mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    start(1, known = stack_of_fibre());
    start(2, inside);
    start(3, dropped_stack());
    memset(&fibre[3], 0, sizeof fibre[3]);
    memset(&home, 0, sizeof home);
}

int main(void)
{
    char inside[65536];

    start_all(inside);
    scrub();
    exit(0);
}
