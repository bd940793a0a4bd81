// Promise 3.8: a plugin loaded with RTLD_DEEPBIND looks for malloc in its own libraries first, and
// is tracked as without the flag: also its constructors and libraries, bound at once or by the first call. Blocks that cross
// the border either way are freed right.
// CFLAGS: -O1 -g -fno-builtin
// BUILD: for o in now lazy; do gcc -w -O1 -g -fno-builtin -fno-optimize-sibling-calls -shared -fPIC -Wl,-z,$o -o %d/$o.so %S/lib/deep.c; done
// BUILD: gcc -w -O1 -g -fno-builtin -fno-optimize-sibling-calls -shared -fPIC -Wl,-Bsymbolic -Wl,-z,relro,-z,now -o %d/symbolic.so %S/lib/deep.c
// BUILD: gcc -w -shared -fPIC -o %d/needs.so -x c /dev/null -L%d -Wl,--no-as-needed -l:lazy.so -Wl,-rpath,%d
// RUN: for o in now lazy symbolic needs; do %leak %t %d/$o.so deep; done; %leak %t %d/now.so; %leak %t %d/symbolic.so
// EXPECT: every block came back
// JSON: len(procs) == 6 and all(q.end.value == 0 and not q.errors for q in procs)
// JSON: all(q.coverage.unknown_frees == 0 and not q.coverage.untracked for q in procs)
// JSON: all((of(f, q).blocks, of(f, q).bytes) == (1, 31) for q in procs for f in ["leak_of_deep_constructor"])
// JSON: all((of(f, q).blocks, of(f, q).bytes) == n for q in procs for f, n in {"leak_of_deep": (10, 1000), "leak_by_pointer": (10, 410)}.items())
// JSON: all((at(f, q).base, at(f, q).line) == ("deep.c", n) for q in procs for f, n in {"leak_of_deep_constructor": 8, "leak_of_deep": 13, "leak_by_pointer": 19}.items())
// JSON: all(of(f, q).blocks == 0 for q in procs for f in ["give_of_deep", "take_back"])

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

__attribute__((noinline)) void take_back(void *(*give)(size_t), void (*take)(void *))
{
    free(give(50));
    take(malloc(60));
    take(give(70));
}

int main(int argc, char **argv)
{
    void *h = dlopen(argv[1], (argc > 2 ? RTLD_DEEPBIND : 0) | RTLD_LAZY);

    for (int i = 0; i < 10; i++) {
        ((void (*)(void))dlsym(h, "leak_of_deep"))();
        ((void (*)(void))dlsym(h, "leak_by_pointer"))();
        take_back(dlsym(h, "give_of_deep"), dlsym(h, "take_of_deep"));
    }
    puts("every block came back");
    return 0;
}
