// Promises 4.30, 4.31: what a plugin's constructor allocates, and what is allocated through a malloc
// that came from dlsym, are tracked.
// CFLAGS: -O1 -g -fno-builtin
// BUILD: gcc -w -O1 -g -fno-builtin -shared -fPIC -o %d/last.so %S/lib/last.c
// RUN: %leak %t %d/last.so
// JSON: of("library_constructor").blocks == 1 and of("library_constructor").bytes == 44
// JSON: of("looked_up").blocks == 3 and of("looked_up").bytes == 3 * 21
// JSON: p.coverage.unknown_frees == 0

#include <dlfcn.h>
#include <stdlib.h>

void *volatile sink;

__attribute__((noinline)) void looked_up(void *where)
{
    void *(*m)(size_t) = dlsym(where, "malloc");
    void (*f)(void *) = dlsym(where, "free");

    f(m(20));
    sink = m(21);
}

int main(int argc, char **argv)
{
    void *h = dlopen(argv[1], RTLD_NOW);

    looked_up(RTLD_DEFAULT);
    looked_up(dlopen(NULL, RTLD_NOW));
    looked_up(RTLD_DEFAULT);
    return !h;
}
