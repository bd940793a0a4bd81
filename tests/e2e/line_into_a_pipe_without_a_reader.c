// Standard error is a pipe without a reader: our lines get lost, and do not kill a program that never
// writes there. Its own SIGPIPE stays as it is.
// RUN: %leak %t first
// EXPECT: second ended with 7$
// EXPECT: third was killed by its own write$

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static int run(char *self, char *part)
{
    int ends[2], status;
    pipe(ends);
    if (!fork()) {
        dup2(ends[1], 2);
        close(ends[0]);
        close(ends[1]);
        usleep(100000); /* until the parent has closed its ends */
        setenv("LIBLEAK_OPTIONS", "verbosity=1:dir=store", 1);
        execl(self, self, part, NULL);
    }
    close(ends[0]);
    close(ends[1]);
    wait(&status);
    return status;
}

int main(int count, char **words)
{
    int status;
    if (words[1][0] == 's')
        return 7;
    if (words[1][0] == 't') {
        write(2, "x", 1);
        return 7;
    }
    status = run(words[0], "second");
    if (WIFEXITED(status))
        printf("second ended with %d\n", WEXITSTATUS(status));
    status = run(words[0], "third");
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGPIPE)
        printf("third was killed by its own write\n");
    return 0;
}
