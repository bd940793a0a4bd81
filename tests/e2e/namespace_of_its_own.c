// A plugin in a link namespace of its own (dlmopen LM_ID_NEWLM) has its own libc: it runs as ever, the
// program's account stays right.
// CFLAGS: -O1 -g -fno-builtin
// BUILD: gcc -w -O1 -g -shared -fPIC -DNAME=leak_of_named -DSIZE=100 -o %d/named.so %S/lib/named.c
// RUN: %t %d/named.so; %leak %t %d/named.so
// EXPECT: ran and closed 5 times
// JSON: of("in_main").blocks == 5 and p.coverage.unknown_frees == 0
// JSON: p.end.value == 0

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

void *volatile sink;
__attribute__((noinline)) void in_main(void) { sink = malloc(10); sink = NULL; }

int main(int argc, char **argv)
{
    int n = 0;

    for (int i = 0; i < 5; i++) {
        void *h = dlmopen(LM_ID_NEWLM, argv[1], RTLD_NOW);
        if (!h) { puts(dlerror()); return 1; }
        ((void (*)(void))dlsym(h, "run"))();
        in_main();
        n += !dlclose(h);
    }
    printf("ran and closed %d times\n", n);
    return 0;
}
