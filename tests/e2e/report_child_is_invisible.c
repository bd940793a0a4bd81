// Hard case 19, report=exit: the helper that reports is no child the program could notice: no SIGCHLD,
// nothing for wait; its descriptors and its children are its own.
// CFLAGS: -O1 -g -fno-builtin
// ENV: LIBLEAK_OPTIONS=report=exit
// RUN: %leak %t >o 2>e; s=$?; cat o; tail -n 1 e; exit $s
// EXIT: 3
// EXPECT: at the end: wait -1 10, signals 1
// EXPECT: libleak: pid=

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int signals;
static void child(int s) { signals++; }

__attribute__((destructor)) static void last(void)
{
    int status, r = waitpid(-1, &status, __WALL | WNOHANG);
    dprintf(1, "at the end: wait %d %d, signals %d\n", r, errno, signals);
}

int main(void)
{
    int status;

    signal(SIGCHLD, child);
    if (!fork())
        _exit(0);
    while (wait(&status) < 0 && errno == EINTR)
        ;
    return 3;
}
