// Hard case 18: exit handlers that work for a long time: they begin at once, the look of main's end is
// made beside them, and it stands when the process is killed before they are done.
// CFLAGS: -O0 -g -fno-builtin
// CFLAGS: -O2 -g -fno-builtin
// RUN: (%leak %t) 2>/dev/null; echo "ended with $?"
// EXPECT: ^handler began in time
// EXPECT: ^ended with 137
// JSON: verdict("dropped") == {"lost": (1, 40)} and verdict("held") == {"reachable": (1, 56)}
// JSON: p.snapshot.rung == "parked" and p.end.how != "exit"

#include "lib/verdicts.h"
#include <signal.h>
#include <time.h>

LOSE(dropped, 40)
TAKE(held, 56)
static void *volatile global;
static struct timespec began;

static void handler(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    if (now.tv_sec - began.tv_sec < 2)
        write(1, "handler began in time\n", 22);
    sleep(1);
    kill(getpid(), SIGKILL);
}

int main(void)
{
    atexit(handler);
    global = held();
    dropped();
    clock_gettime(CLOCK_MONOTONIC, &began);
    return 0;
}
