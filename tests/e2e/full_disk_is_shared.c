// The store's disk fills up: an eighth of it is left to the program, which writes to the same disk.
// NEEDS: root mount unshare
// CFLAGS: -O0 -fno-builtin
// RUN: mkdir -p small; unshare -m sh -c 'mount -t tmpfs -o size=6m none small && LIBLEAK_OPTIONS=dir=%d/small && export LIBLEAK_OPTIONS && LD_PRELOAD=%O/libleak.so %t; cp small/*.leak store'
// EXPECT: no room left for
// EXPECT: the program could write

#include <fcntl.h>
#include <stdlib.h>
#include <stdio.h>
#include <unistd.h>

void *volatile sink;

__attribute__((noinline)) static void down(unsigned long way, int depth)
{
    if (!depth)
        sink = malloc(1);
    else if (way & 1)
        down(way >> 1, depth - 1);
    else
        down(way >> 1, depth - 1);
    __asm__ volatile("");
}

int main(void)
{
    static char bytes[256 * 1024];
    int fd;
    for (unsigned long way = 0; way < 60000; way++)
        down(way, 17);
    fd = open("small/own", O_WRONLY | O_CREAT, 0600);
    if (write(fd, bytes, sizeof bytes) == sizeof bytes)
        printf("the program could write\n");
    return 0;
}
