// Promise 3.8: a plugin loaded with RTLD_DEEPBIND together with an allocator of its own keeps that one: its
// calls are led nowhere else, and this is said. In a sample its calls are not led either, and it is said.
// CFLAGS: -O1 -g -fno-builtin
// BUILD: gcc -w -O1 -g -fno-builtin -shared -fPIC -o %d/libown.so %S/lib/own_malloc.c
// BUILD: gcc -w -O1 -g -fno-builtin -shared -fPIC -o %d/deep.so %S/lib/deep.c
// BUILD: gcc -w -O1 -g -fno-builtin -shared -fPIC -o %d/own.so %S/lib/deep.c -L%d -Wl,--no-as-needed -lown -Wl,-rpath,%d
// RUN: %leak %t %d/own.so && LIBLEAK_OPTIONS=sample=64K && export LIBLEAK_OPTIONS && %leak %t %d/deep.so
// EXPECT: ran to its end
// JSON: len(procs) == 2 and all(q.end.value == 0 and not q.errors for q in procs)
// JSON: all("DEEPBIND" in str(q.coverage.untracked) for q in procs)
// JSON: all(of("leak_of_deep", q).blocks == 0 for q in procs)

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    void *h = dlopen(argv[1], RTLD_DEEPBIND | RTLD_NOW);
    void *(*give)(size_t) = dlsym(h, "give_of_deep");
    void (*take)(void *) = dlsym(h, "take_of_deep");

    for (int i = 0; i < 10; i++) {
        ((void (*)(void))dlsym(h, "leak_of_deep"))();
        take(give(10));
    }
    puts("ran to its end");
    return argc != 2;
}
