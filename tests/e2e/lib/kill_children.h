/* kill_children(parent): kills every child of a process that is not the caller; returns how many.
 *
 * parent: stored before the fork, never read by getppid(): when the parent has ended, getppid() returns another
 * process, whose children must not be killed. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int kill_children(int parent)
{
    char path[64], list[256];
    int killed = 0;

    snprintf(path, sizeof(path), "/proc/%d/task/%d/children", parent, parent);
    FILE *stream = fopen(path, "r");
    if (stream && fgets(list, sizeof(list), stream))
        for (char *word = strtok(list, " "); word; word = strtok(NULL, " "))
            if (atoi(word) != getpid())
                killed += kill(atoi(word), SIGKILL) == 0;
    if (stream)
        fclose(stream);
    return killed;
}
