/* kill_children(parent): kills every child of a process that is not the caller; how many.
 *
 * parent: learnt before there was a child, never by getppid(): when it has ended that is somebody else, whose
 * children are nobody's business here. */
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
