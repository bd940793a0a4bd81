// Hard case 30: free(NULL) and free of nothing before any malloc, in the earliest constructor there is.
// CFLAGS: -O1 -g -fno-builtin
// BUILD: gcc -w -O1 -g -fno-builtin -shared -fPIC -Wl,-z,initfirst -o %d/libfirst.so %S/lib/first.c
// RUN: env "LD_PRELOAD=%O/libleak.so %d/libfirst.so" "LIBLEAK_OPTIONS=dir=%d/store" %t
// RUN: env "LD_PRELOAD=%d/libfirst.so %O/libleak.so" "LIBLEAK_OPTIONS=dir=%d/store" %t
// EXPECT: fine
// JSON: len(procs) == 2
// JSON: all(of("first_constructor", q).blocks == 1 and of("first_constructor", q).bytes == 55 for q in procs)
// JSON: all(of("in_main", q).blocks == 1 for q in procs)
// JSON: all(q.coverage.unknown_frees == 0 for q in procs)

#include <stdio.h>
#include <stdlib.h>

void *volatile sink;
__attribute__((noinline)) void in_main(void) { sink = malloc(10); }

int main(void)
{
    in_main();
    write(1, "fine\n", 5);
    return 0;
}
