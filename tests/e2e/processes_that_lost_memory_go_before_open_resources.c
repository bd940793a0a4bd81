// A process that only left resources open is no reason to read past it: a child that lost memory goes first, though
// the user started the other one. Where both lost memory, or none did, the one that the user started goes first.
// CFLAGS: -O0 -g -fno-builtin
// RUN: for who in child both none; do %run %t $who 2>&1 >/dev/null | awk -v who=$who '/exited with/ { said = said " process" } /^[0-9]+ bytes in 1 block lost|^no / { said = said " " $0 } END { print who ":" said }'; done
// EXPECT: ^child: process 70 bytes in 1 block lost \(1 record\) process no lost blocks .*resources still open$
// EXPECT: ^both: process 80 bytes in 1 block lost \(1 record\), process 70 bytes
// EXPECT: ^none: process no lost blocks .*resources still open$
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define FAR __attribute__((noinline))

FAR void lose(size_t size)
{
    memset(malloc(size), 1, size);
}
FAR void leave_open(void)
{
    for (int i = 0; i < 3; i++)
        open("/dev/null", O_RDONLY);
}
FAR void scrub(void)
{
    volatile char stack[4096] = {0};
    (void)stack;
}

int main(int argc, char **argv)
{
    const char *who = argc > 1 ? argv[1] : "child";

    if (!fork()) {
        free(malloc(10));
        if (strcmp(who, "none") != 0)
            lose(70);
        else
            leave_open();
        scrub();
        return 0;
    }
    wait(NULL);
    free(malloc(20));
    leave_open();
    if (strcmp(who, "both") == 0)
        lose(80);
    scrub();
    return 0;
}
