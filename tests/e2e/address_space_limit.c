// RLIMIT_AS (ulimit -v) leaves no room for a large mapping: the program runs as without us, what cannot
// be kept is said in a line.
// CFLAGS: -O1 -g -fno-builtin
// RUN: (ulimit -v 400000; %leak %t) 2>e; echo "status=$? lines=$(grep -c . e)"; head -n 3 e
// RUN: (ulimit -v 60000; %leak %t) 2>e; echo "tight=$? lines=$(grep -c . e)"; head -n 3 e; for f in store/*.leak; do [ -s $f ] || rm -f $f; done; %leak %t
// EXIT: 3
// EXPECT: ^status=3 lines=[01]
// EXPECT: ^tight=3 lines=[01]
// JSON: all(of("leak", q).blocks == 1000 for q in procs[-1:])

#include <stdlib.h>
#include <sys/mman.h>

void *volatile sink;
__attribute__((noinline)) void leak(void) { sink = malloc(10); sink = NULL; }

int main(void)
{
    for (int i = 0; i < 1000; i++)
        leak();
    return 3;
}
