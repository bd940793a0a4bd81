// Somebody kills the child of each periodic look while it works: the next one says so, and the program does not
// notice; left alone it tells what is lost.
// CFLAGS: -O0 -g -fno-builtin
// RUN: LIBLEAK_OPTIONS=exit_look=off:snapshot_every=100ms:pause_budget=60s; %leak %t killed; %leak %t
// EXPECT: ^killed some$
// EXPECT: ^left alone$
// JSON: len(procs) == 3 and all(q.end.how == "exit" and q.end.value == 0 for q in procs)
// JSON: "killed" in str(procs[0].argv) and procs[0].snapshot.rung == "none" and "died" in procs[0].snapshot.trouble
// JSON: procs[0].summary.lost.blocks == 0
// JSON: procs[2].snapshot.rung == "parked" and procs[2].summary.lost.bytes == 40

#include "lib/kill_children.h"
#include "lib/verdicts.h"
#include <time.h>

#define BLOCKS 300000 // long enough at work to be met

LOSE(dropped, 40)

static void **blocks;

static void kill_them_all(int parent)
{
    unsetenv("LD_PRELOAD");
    while (getppid() == parent) {
        usleep(200);
        kill_children(parent);
    }
    _exit(0);
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
    int parent = getpid();

    if (argc > 1 && fork() == 0)
        kill_them_all(parent);
    dropped();
    scrub();
    blocks = malloc(BLOCKS * sizeof(*blocks));
    for (int i = 0; i < BLOCKS; i++)
        blocks[i] = malloc(16);
    for (double end = now() + 2; now() < end; usleep(1000))
        free(malloc(10));
    printf("%s\n", argc > 1 ? "killed some" : "left alone");
    return 0;
}
