// Promise 3.8: a plugin loaded with RTLD_DEEPBIND calls libc's malloc past us: counted and said; the
// blocks that cross the border harm nobody. The same plugin without the flag: tracked, nothing to say.
// BUILD: gcc -w -O1 -g -fno-builtin -shared -fPIC -DNAME=leak_of_named -DSIZE=100 -o %d/named.so %S/lib/named.c
// RUN: %leak %t %d/named.so deep; %leak %t %d/named.so
// EXPECT: freed what it gave
// JSON: any("DEEPBIND" in str(u) for u in procs[0].coverage.untracked)
// JSON: not any("DEEPBIND" in str(u) for u in procs[1].coverage.untracked)
// JSON: of("leak_of_named", procs[1]).blocks == 0 and procs[1].coverage.unknown_frees == 0
// JSON: procs[0].end.value == 0 and procs[1].end.value == 0

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    void *h = dlopen(argv[1], RTLD_NOW | (argc > 2 ? RTLD_DEEPBIND : 0));
    void **kept = dlsym(h, "named_sink");

    for (int i = 0; i < 10; i++) {
        ((void (*)(void))dlsym(h, "run_kept"))();
        free(*kept);
    }
    puts("freed what it gave");
    return 0;
}
