// Somebody kills the look's child while it works: the report says so, calls nothing lost that no look has seen, and
// the program ends as it would have.
// CFLAGS: -O0 -g -fno-builtin
// RUN: LIBLEAK_OPTIONS=exit_budget=20s; %leak %t
// EXPECT: ^killed 1$
// JSON: p.snapshot.rung == "none" and "died" in p.snapshot.trouble
// JSON: p.summary.lost.blocks == 0 and p.summary.unfreed.blocks > 1000000
// JSON: p.end.how == "exit" and p.end.value == 0

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define BLOCKS 2000000 // long enough at work to be met

static void **blocks;

static int parent; // never getppid(): when it has ended that is somebody else

// The first child of our parent that is not ourselves.
static int find_child(void)
{
    char path[64], list[256];
    int pid = 0;

    snprintf(path, sizeof(path), "/proc/%d/task/%d/children", parent, parent);
    FILE *stream = fopen(path, "r");
    if (stream && fgets(list, sizeof(list), stream))
        for (char *word = strtok(list, " "); word && !pid; word = strtok(NULL, " "))
            if (atoi(word) != getpid())
                pid = atoi(word);
    if (stream)
        fclose(stream);
    return pid;
}

static void watch(int told)
{
    int pid = 0;

    unsetenv("LD_PRELOAD");
    write(told, "!", 1);
    for (int i = 0; i < 100000 && !pid; i++) {
        usleep(200);
        pid = find_child();
    }
    printf("killed %d\n", pid && kill(pid, SIGKILL) == 0);
    fflush(stdout);
    _exit(0);
}

int main(void)
{
    int told[2];
    char byte;

    parent = getpid();
    pipe(told);
    if (fork() == 0)
        watch(told[1]);
    blocks = malloc(BLOCKS * sizeof(*blocks));
    for (int i = 0; i < BLOCKS; i++)
        blocks[i] = malloc(16);
    read(told[0], &byte, 1);
    return 0;
}
