// A child that allocates long after the fork starts from what it inherited, not from what its parent has
// allocated since.
// CFLAGS: -O1 -g -fno-builtin
// JSON: len(procs) == 2
// JSON: p.totals.peak_bytes == 100000010
// JSON: procs[1].totals.peak_bytes == 11

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

void *volatile sink;

int main(void)
{
    int ends[2];
    char c;
    pipe(ends);
    sink = malloc(10);
    if (!fork()) {
        read(ends[0], &c, 1);
        sink = malloc(1);
        return 0;
    }
    for (int i = 0; i < 100; i++)
        sink = malloc(1000000);
    write(ends[1], "x", 1);
    wait(NULL);
    return 0;
}
