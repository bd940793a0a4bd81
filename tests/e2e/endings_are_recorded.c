// Hard case 18: return, exit, _exit, _Exit, quick_exit, abort, fatal signal, SIGKILL, exit in a thread:
// status and signal as without us, and the store says how it ended.
// CFLAGS: -O1 -g -fno-builtin
// RUN: for h in 0 1 2 3 4 5 6 7 8 9; do %t $h >/dev/null 2>&1; a=$?; (%leak %t $h) >/dev/null 2>&1; b=$?; [ $a = $b ] && echo "same $h: $a" || echo "DIFFERENT $h: $a $b"; done 2>/dev/null
// EXPECT: same 0: 10
// EXPECT: same 9: 19
// REFUSE: DIFFERENT
// JSON: [(q.end.how, q.end.value) for q in procs if q.end.how == "exit"] == [("exit", 10), ("exit", 11), ("exit", 12), ("exit", 13), ("exit", 14), ("exit", 18), ("exit", 19)]
// JSON: len(procs) == 10 and all(q.end.how in ("exit", "signal", "lost") for q in procs)
// JSON: all(of("leak", q).blocks == 3 for q in procs)

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

void *volatile sink;
__attribute__((noinline)) void leak(void) { sink = malloc(10); sink = NULL; }
static void *ends(void *x) { exit(18); }

int main(int argc, char **argv)
{
    int how = atoi(argv[1]);
    pthread_t t;

    leak(), leak(), leak();
    switch (how) {
    case 0: return 10;
    case 1: exit(11);
    case 2: _exit(12);
    case 3: _Exit(13);
    case 4: quick_exit(14);
    case 5: abort();
    case 6: *(volatile int *)8 = 1; break;
    case 7: kill(getpid(), SIGKILL); pause(); break;
    case 8: pthread_create(&t, NULL, ends, NULL); pthread_join(t, NULL); break;
    case 9: free(malloc(1)); _exit(19);
    }
    return 1;
}
