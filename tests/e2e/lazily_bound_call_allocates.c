// A call through the PLT is bound when it is made first, and the loader allocates on the way: the stack leads
// through the loader's resolver, whose frame is counted from rbx, to the caller.
// BUILD: echo 'int from_b(int x) { return x + 1; }' | gcc -w -O1 -g -shared -fPIC -x c -o %d/b.so -
// BUILD: echo 'int from_b(int); int lazily_bound(int x) { return from_b(x) + 1; }' | gcc -w -O1 -g -shared -fPIC -Wl,-z,lazy -x c -o %d/a.so -
// RUN: export LIBLEAK_OPTIONS; LIBLEAK_OPTIONS=unwind_check=1; %leak %t %d/a.so %d/b.so
// RUN: LIBLEAK_OPTIONS=unwind_check=1:unwind_oracle=libgcc; %leak %t %d/a.so %d/b.so
// EXPECT: ^bound 3
// JSON: of("lazily_bound").blocks == 1 and all("main" in [f.function for f in r.frames] for r in hits("lazily_bound"))
// JSON: all(q.coverage.truncated_stacks == q.coverage.unwind_mismatches == q.coverage.unwind_stops == 0 for q in procs)

#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    void *b = dlopen(argv[2], RTLD_NOW | RTLD_GLOBAL), *a = dlopen(argv[1], RTLD_LAZY | RTLD_LOCAL);
    int (*f)(int) = (int (*)(int))dlsym(a, "lazily_bound");

    (void)argc;
    printf("bound %d\n", b ? f(1) : 0);
    return 0;
}
