// Hard case 15: a look that a fibre asks for, with a guard page right below its small stack of mmap, and
// one that another thread asks for while the fibre runs: made, and right.
// CFLAGS: -O0 -g -fno-builtin
// CFLAGS: -O2 -g -fno-builtin
// ENV: LIBLEAK_OPTIONS=exit_look=off
// EXPECT: ^fibre: 1, thread: 1$
// JSON: verdict("in_fibre") == {"reachable": (1, 24)} and verdict("in_main") == {"reachable": (1, 40)}
// JSON: verdict("dropped") == {"lost": (1, 56)}

#include "lib/verdicts.h"
#include <pthread.h>
#include <sys/mman.h>
#include <ucontext.h>

TAKE(in_fibre, 24)
TAKE(in_main, 40)
LOSE(dropped, 56)
static ucontext_t home, fibre;
static long from_fibre, from_thread;

static void *thread(void *x)
{
    from_thread = look();
    return NULL;
}

static void body(void)
{
    void *volatile local = in_fibre();
    pthread_t t;

    dropped();
    scrub();
    from_fibre = look();
    pthread_create(&t, NULL, thread, NULL);
    pthread_join(t, NULL);
    opaque(local);
}

int main(void)
{
    void *volatile local = in_main();
    char *stack = mmap(NULL, 17 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    mprotect(stack, 4096, PROT_NONE);
    getcontext(&fibre);
    fibre.uc_stack.ss_sp = stack + 4096;
    fibre.uc_stack.ss_size = 16 * 4096;
    fibre.uc_link = &home;
    makecontext(&fibre, body, 0);
    swapcontext(&home, &fibre);
    printf("fibre: %ld, thread: %ld\n", from_fibre, from_thread);
    return !local;
}
