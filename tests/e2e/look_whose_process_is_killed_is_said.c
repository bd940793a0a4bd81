// Somebody kills the look's child while it works: the report says so, calls nothing lost that no look has seen, and
// the program ends as it would have.
// CFLAGS: -O0 -g -fno-builtin
// RUN: LIBLEAK_OPTIONS=exit_budget=20s; %leak %t
// EXPECT: ^killed 1$
// JSON: p.snapshot.rung == "none" and "died" in p.snapshot.trouble
// JSON: p.summary.lost.blocks == 0 and p.summary.unfreed.blocks > 1000000
// JSON: p.end.how == "exit" and p.end.value == 0

#include "lib/kill_children.h"

#define BLOCKS 2000000 // long enough at work to be met

static void **blocks;

static void watch(int told, int parent)
{
    int killed = 0;

    unsetenv("LD_PRELOAD");
    write(told, "!", 1);
    for (int i = 0; i < 100000 && !killed; i++) {
        usleep(200);
        killed = kill_children(parent);
    }
    printf("killed %d\n", killed);
    fflush(stdout);
    _exit(0);
}

int main(void)
{
    int told[2], parent = getpid();
    char byte;

    pipe(told);
    if (fork() == 0)
        watch(told[1], parent);
    blocks = malloc(BLOCKS * sizeof(*blocks));
    for (int i = 0; i < BLOCKS; i++)
        blocks[i] = malloc(16);
    read(told[0], &byte, 1);
    return 0;
}
