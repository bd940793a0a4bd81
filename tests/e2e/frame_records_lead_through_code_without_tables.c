// Code without any unwind table has whole stacks if it keeps frame records, also through libc's qsort, which has a table and no
// records; unwind=cfi ends the stack there, and so does code that keeps no records. Where code with neither a table nor a record
// is called by a function with both, the record is that of the caller: the stack ends and does not leave the caller out.
// BUILD: cc -w -O1 -g0 -fno-asynchronous-unwind-tables -fno-unwind-tables -fno-optimize-sibling-calls -fno-omit-frame-pointer -o %d/with %s
// BUILD: cc -w -O1 -g0 -fno-asynchronous-unwind-tables -fno-unwind-tables -fno-optimize-sibling-calls -fomit-frame-pointer -o %d/without %s
// BUILD: cc -w -O1 -g0 -fno-optimize-sibling-calls -fno-omit-frame-pointer -DBARE -o %d/bare %s
// NOBUILD:
// RUN: for p in with without bare; do for how in auto cfi; do export LIBLEAK_OPTIONS=unwind=$how; %leak %d/$p || exit 1; done; done
// JSON: len(procs) == 6 and all(q.end.value == 0 and q.summary.lost.blocks == 5 for q in procs)
// JSON: [f.function for f in hits("inner", procs[0])[0].frames if f.function in ("inner", "compare", "sort_all", "outer", "main")] == ["inner", "compare", "sort_all", "outer", "main"]
// JSON: procs[0].coverage.truncated_stacks == 0 and procs[0].coverage.unwind_mismatches == 0
// JSON: all(len(hits("inner", q)[0].frames) == 1 and q.coverage.truncated_stacks > 0 for q in procs[1:4])
// JSON: all([f.function for f in hits("inner", q)[0].frames] == ["inner", "bare"] and q.coverage.truncated_stacks > 0 for q in procs[4:])

#include <stdlib.h>

#define FAR __attribute__((noinline, noclone))

static void *volatile sink;

FAR static void inner(void)
{
    for (int i = 0; i < 5; i++)
        sink = malloc(100);
    sink = NULL;
}

#ifdef BARE

void bare(void (*function)(void));
__asm__(".globl bare\n.type bare, @function\nbare:\n"
        "sub $8, %rsp\ncall *%rdi\nadd $8, %rsp\nret\n.size bare, . - bare\n");

FAR static void outer(void)
{
    bare(inner);
    sink = NULL;
}

#else

static int calls;

FAR static int compare(const void *a, const void *b)
{
    if (!calls++)
        inner();
    return *(const int *)a - *(const int *)b;
}

FAR static void sort_all(int *numbers)
{
    qsort(numbers, 8, sizeof *numbers, compare);
    sink = NULL;
}

FAR static void outer(void)
{
    int numbers[8] = {3, 1, 2, 9, 7, 8, 4, 5};
    sort_all(numbers);
    sink = NULL;
}

#endif

int main(void)
{
    outer();
    sink = NULL;
    return 0;
}
