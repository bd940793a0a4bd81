// on_error=trap with a handler of the program's that forks: parent and child go on in the same free, and each
// counts it in its own recording alone, whether or not the handler allocates in the child before it returns.
// CFLAGS: -O1 -g -fno-builtin -fno-optimize-sibling-calls
// RUN: export LIBLEAK_OPTIONS=on_error=trap; %leak %t quiet; %leak %t busy; LIBLEAK_OPTIONS=on_error=trap:quarantine=1m %leak %t busy
// EXPECT: ^went on$
// JSON: len(procs) == 6 and all(q.end.how == "exit" and q.end.value == 0 for q in procs)
// JSON: [(q.totals.live_blocks, q.totals.live_bytes) for q in procs] == [(3, 120)] * 6
// JSON: [of("make", q).blocks for q in procs if q.ppid not in [o.pid for o in procs]] == [3] * 3
// JSON: [wrongs(q) for q in procs if q.ppid not in [o.pid for o in procs]] == [{("mismatched-free", "make", "release_wrongly"): 1}] * 3

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define FAR __attribute__((noinline))
void *volatile sink;
static int busy;
static volatile pid_t child = -1;

FAR char *make(void) { return malloc(40); }

static void handle(int number)
{
    child = fork();
    if (child == 0 && busy)
        free(malloc(number));
}

void _ZdlPv(void *) __attribute__((weak)); /* null without libleak */

FAR void release_wrongly(char *p) { _ZdlPv(p); __asm__(""); }

int main(int argc, char **argv)
{
    char *kept[4];
    busy = !strcmp(argv[1], "busy");
    signal(SIGTRAP, handle);
    for (int i = 0; i < 4; i++)
        kept[i] = make();
    release_wrongly(kept[0]);
    sink = kept[1]; /* that the child has something to be counted for */
    if (child == 0) {
        free(malloc(1));
        _exit(0);
    }
    while (wait(NULL) < 0)
        ;
    write(1, "went on\n", 8);
    return 0;
}
