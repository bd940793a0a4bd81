// What a loaded library's globals point to is reachable as long as it is loaded; after dlclose it is lost.
// CFLAGS: -O0 -g -fno-builtin
// CFLAGS: -O2 -g -fno-builtin
// BUILD: cc -O1 -g -shared -fPIC -o %d/one.so %S/lib/holder.c && cp %d/one.so %d/two.so
// RUN: %leak %t %d/one.so %d/two.so
// JSON: verdict("loaded") == {"reachable": (2, 2 * 40)}
// JSON: all(r.path[0]["class"] == "globals" and r.path[0].variable in ("in_data", "in_zeroed") for r in hits("loaded"))
// JSON: verdict("unloaded") == {"lost": (2, 2 * 56)}

#include "lib/verdicts.h"
#include <dlfcn.h>

TAKE(loaded, 40)
TAKE(unloaded, 56)

FAR static void *keep(const char *path, void *(*take)(void))
{
    void *library = dlopen(path, RTLD_NOW);

    if (!library)
        puts(dlerror()), exit(1);
    ((void (*)(void *, void *))dlsym(library, "hold"))(take(), take());
    return library;
}

int main(int argc, char **argv)
{
    keep(argv[1], loaded);
    dlclose(keep(argv[2], unloaded));
    return 0;
}
