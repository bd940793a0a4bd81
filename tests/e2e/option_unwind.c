// Promise 4.13: a program without frame pointers has whole stacks by the tables, the default, and short ones by unwind=fp; one with them
// has the same functions of its own either way. No walk goes astray: where a register holds something else, the stack ends.
// BUILD: cc -w -O1 -g -fno-builtin -fno-optimize-sibling-calls -fno-omit-frame-pointer -o %d/with %s -pthread
// BUILD: cc -w -O1 -g -fno-builtin -fno-optimize-sibling-calls -fomit-frame-pointer -o %d/without %s -pthread
// NOBUILD:
// RUN: for p in with without; do for how in auto cfi fp; do export LIBLEAK_OPTIONS=unwind=$how; %leak %d/$p $how || exit 1; done; done
// JSON: len(procs) == 6 and all(q.end.value == 0 and not q.errors for q in procs)
// JSON: all(q.summary.lost.blocks == 40 and q.summary.lost.bytes == 4000 for q in procs)
// JSON: all([f.function for f in r.frames if f.function in ("inner", "middle", "outer", "main")] == ["inner", "middle", "outer", "main"] for q in procs[:5] for r in hits("outer", q))
// JSON: all(of("outer", q).blocks == of("run", q).blocks == 20 for q in procs[:5])
// JSON: all(len([f for f in r.frames if f.function in ("inner", "middle", "outer", "main")]) < 4 for r in procs[5].records if r.verdict == "lost")
// JSON: max(len(r.frames) for r in procs[5].records) < min(len(r.frames) for r in procs[4].records if r.verdict == "lost")

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static void *volatile sink;

/* Many values to keep over the call: where there is no frame pointer, that register has one of them. */
__attribute__((noinline)) static void inner(long value)
{
    long a = value, b = value + 1, c = value + 2, d = value + 3, e = value + 4, f = value + 5;
    __asm__ volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d), "+r"(e), "+r"(f));
    sink = malloc(100);
    __asm__ volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d), "+r"(e), "+r"(f));
    sink = NULL;
}

__attribute__((noinline)) static void middle(long value)
{
    inner(value + 1);
    __asm__ volatile("");
}

__attribute__((noinline)) static void outer(long value)
{
    for (int i = 0; i < 10; i++)
        middle(value);
    __asm__ volatile("");
}

static void *run(void *argument)
{
    for (int i = 0; i < 20; i++)
        middle((long)argument);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    outer(1);
    outer((long)&thread);
    pthread_create(&thread, NULL, run, &thread);
    pthread_join(thread, NULL);
    return 0;
}
