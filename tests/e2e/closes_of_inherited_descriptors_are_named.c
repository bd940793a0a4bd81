// A descriptor that a process did not open itself and closes twice is reported as what it was (standard input,
// inherited) with the stack of the first close and no opening stack.
// CFLAGS: -O1 -g -fno-optimize-sibling-calls
// RUN: %leak sh -c 'exec 9</etc/group; exec %d/t'
// JSON: names("input", procs[-1]) == ["standard input"] and names("nine", procs[-1]) == ["inherited: /etc/group"]
// JSON: all(r.type == "double-close" and r.opened == None and r.closed[0].function == r.frames[0].function for r in procs[-1].resources)
// JSON: sum(r.count for r in procs[-1].resources) == 2

#include <unistd.h>

__attribute__((noinline)) void input(void)
{
    close(0);
    close(0);
}

__attribute__((noinline)) void nine(void)
{
    close(9);
    close(9);
}

int main(void)
{
    input();
    nine();
    return 0;
}
