// makecontext/swapcontext stacks in malloc'ed memory, in mmap and inside the thread's own stack: blocks
// are counted, stacks hold the fibre's own frames, nothing is confused by switching between them.
// CFLAGS: -O2 -g -fno-builtin
// CFLAGS: -O0 -g
// EXPECT: switched 3000 times
// JSON: of("fibre_a").blocks == 1000 and of("fibre_b").blocks == 1000 and of("fibre_c").blocks == 1000
// JSON: of("between").blocks == 1000
// JSON: not any(f.function in ("fibre_a", "fibre_b", "fibre_c") for r in hits("between") for f in r.frames)
// JSON: all("main" in [f.function for f in r.frames] for r in hits("between"))
// JSON: not any(f.function == "fibre_b" for r in hits("fibre_a") for f in r.frames)

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>

#define FAR __attribute__((noinline))
static void *volatile sink;
static ucontext_t home, fibre[3];
static int switched;

#define FIBRE(name, i)                                                                             \
    FAR static void name(void)                                                                     \
    {                                                                                              \
        for (;;) {                                                                                 \
            sink = malloc(10 + i);                                                                 \
            switched++;                                                                            \
            swapcontext(&fibre[i], &home);                                                         \
        }                                                                                          \
    }
FIBRE(fibre_a, 0)
FIBRE(fibre_b, 1)
FIBRE(fibre_c, 2)
FAR static void between(void) { sink = malloc(30); sink = NULL; }

int main(void)
{
    char inside[65536];
    void *stack[] = { malloc(65536), mmap(NULL, 65536, 3, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), inside };
    void (*f[])(void) = { fibre_a, fibre_b, fibre_c };

    for (int i = 0; i < 3; i++) {
        getcontext(&fibre[i]);
        fibre[i].uc_stack.ss_sp = stack[i];
        fibre[i].uc_stack.ss_size = 65536;
        makecontext(&fibre[i], f[i], 0);
    }
    for (int n = 0; n < 1000; n++) {
        for (int i = 0; i < 3; i++)
            swapcontext(&home, &fibre[i]);
        between();
    }
    printf("switched %d times\n", switched);
    return 0;
}
