// exec of a FIFO fails at once, also when the FIFO is met in the search along PATH: looking at the file
// before must not wait for a writer.
// RUN: mkfifo -m 777 fifo; PATH=$PWD:$PATH; %leak timeout -s KILL 10 %t
// EXPECT: execv: Permission denied$
// EXPECT: execvp: Permission denied$

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(void)
{
    char *arguments[] = { "fifo", NULL };
    execv("./fifo", arguments);
    printf("execv: %s\n", strerror(errno));
    execvp("fifo", arguments);
    printf("execvp: %s\n", strerror(errno));
    return 0;
}
