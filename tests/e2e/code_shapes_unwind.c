// Hard case 27: -O2 without frame pointers: tail calls, alloca, realigned frames, a noreturn call at
// the end of a function, calls through the PLT and through libc: the stack reaches main, lines right.
// CFLAGS: -O2 -g -fno-builtin -fomit-frame-pointer -fno-optimize-sibling-calls
// CFLAGS: -O2 -g -fno-builtin -fomit-frame-pointer
// CFLAGS: -O2 -g -fno-builtin -fomit-frame-pointer -fno-plt -fPIE -pie -Wl,-z,now
// CFLAGS: -O2 -g -fno-builtin -fomit-frame-pointer -no-pie -Wl,-z,lazy
// CFLAGS: -O0 -g -fno-omit-frame-pointer
// CFLAGS: -O2 -g -fno-builtin %protect -fstack-clash-protection
// JSON: at("with_alloca").line == line("alloca") and of("with_alloca").blocks == 1
// JSON: at("realigned").line == line("realigned") and of("realigned").blocks == 1
// JSON: at("noreturn_at_end").line == line("noreturn") and of("noreturn_at_end").blocks == 1
// JSON: at("compare").line == line("compare") and of("compare").blocks >= 1
// JSON: all("main" in [f.function for f in r.frames] for r in hits("compare"))
// JSON: of("many_arguments").blocks == 1 and at("many_arguments").line == line("arguments")
// JSON: of("tail_end").blocks == 1 and at("tail_end").line == line("tail")
// JSON: all("main" in [f.function for f in r.frames] for n in ["with_alloca", "realigned", "noreturn_at_end", "many_arguments", "tail_end"] for r in hits(n))
// JSON: p.coverage.truncated_stacks == 0 and p.coverage.unwind_mismatches in (0, None)

#include <alloca.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FAR __attribute__((noinline))
void *volatile sink;
static jmp_buf back;

FAR void with_alloca(int n)
{
    char *room = alloca(n);

    memset(room, 1, n);
    sink = malloc(room[n - 1] + 40); // alloca
    sink = room;
}

FAR void realigned(void)
{
    char room[128] __attribute__((aligned(128)));

    sink = room;
    sink = malloc(42); // realigned
    sink = room;
}

FAR __attribute__((noreturn)) void ends(void *p)
{
    sink = p;
    longjmp(back, 1);
}

FAR void *mine(int n);

/* The call is the function's last instruction: its return address lies in the next function. */
FAR __attribute__((noreturn)) void allocate_and_end(void)
{
    sink = malloc(43);
    ends(sink);
}

FAR void noreturn_at_end(int n)
{
    if (n)
        allocate_and_end(); // noreturn
    sink = NULL;
}

FAR int after_noreturn(void) { return sink != NULL; }

FAR int compare(const void *a, const void *b)
{
    static int done;

    if (!done++)
        sink = malloc(44); // compare
    return *(const int *)a - *(const int *)b;
}

FAR int many_arguments(int a, int b, int c, int d, int e, int f, int g, int h, double x)
{
    sink = malloc(a + b + c + d + e + f + g + h); // arguments
    return h + (int)x;
}

FAR void *mine(int n) { return malloc(n); }

FAR void tail_end(int n)
{
    sink = malloc(n); // tail
    sink = NULL;
}
FAR void tail_middle(int n) { tail_end(n + 1); }
FAR void tail_start(int n) { tail_middle(n + 1); }

int main(void)
{
    int list[] = { 3, 1, 2 };

    with_alloca(1000);
    realigned();
    if (!setjmp(back))
        noreturn_at_end(1);
    qsort(list, 3, sizeof *list, compare);
    sink = (void *)(long)many_arguments(1, 2, 3, 4, 5, 6, 7, 8, 9.5);
    tail_start(10);
    return after_noreturn() * 0;
}
