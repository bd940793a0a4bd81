// Hard case 29a: a library finds its own plugin by its own RUNPATH $ORIGIN: a wrapper around dlopen
// that forgot who called would look in ours.
// BUILD: mkdir -p %d/x/sub; gcc -w -O1 -g -shared -fPIC -DNAME=leak_of_inner -DSIZE=100 -o %d/x/sub/inner.so %S/lib/named.c; gcc -w -O1 -g -shared -fPIC '-Wl,-rpath,$ORIGIN/sub' -Wl,--enable-new-dtags -o %d/x/outer.so %S/lib/outer.c
// RUN: cd /; %leak %t %d/x/outer.so
// EXPECT: inner found by dlopen
// EXPECT: inner found by dlmopen
// EXPECT: caller known to the loader
// JSON: of("leak_of_inner").blocks >= 1 and of("outer_open").blocks >= 1

#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    void *h = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);

    if (!h) { puts(dlerror()); return 1; }
    return ((int (*)(void))dlsym(h, "outer_open"))();
}
