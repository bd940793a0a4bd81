// Options come from ./.libleakrc, then $XDG_CONFIG_HOME/libleak/config, then the environment: later
// wins; LIBLEAK_DIR is dir.
// CFLAGS: -O1 -g -fno-builtin
// RUN: mkdir -p conf/libleak other; echo depth=7 >conf/libleak/config; XDG_CONFIG_HOME=%d/conf; export XDG_CONFIG_HOME; %leak %t; echo depth=9 >.libleakrc; %leak %t; LIBLEAK_OPTIONS=depth=11; %leak %t
// RUN: env -u LIBLEAK_OPTIONS LIBLEAK_DIR=%d/other LD_PRELOAD=%O/libleak.so %t; ls other | wc -l | sed 's/^/other: /'
// EXPECT: ^other: 1
// JSON: [len(hits("down", q)[0].frames) for q in procs] == [7, 9, 11]

#include <stdlib.h>

void *volatile sink;

__attribute__((noinline)) int down(int n)
{
    if (n == 1)
        sink = malloc(8);
    return n == 1 ? 0 : down(n - 1) + 1;
}

int main(void)
{
    return down(50) != 49;
}
