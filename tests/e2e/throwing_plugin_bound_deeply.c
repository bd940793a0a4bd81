// Hard case 29a, promise 3.8: as throwing_plugin_in_c_host, with RTLD_DEEPBIND: libstdc++ comes with the plugin,
// and its own operators call a malloc that comes to us.
// BUILD: g++ -w -O1 -g -shared -fPIC -o %d/thrower.so %S/lib/thrower.cc
// RUN: ldd %t | grep -c stdc++ | sed 's/^/stdc++ in host: /'; %leak %t %d/thrower.so
// EXPECT: stdc\+\+ in host: 0
// EXPECT: caught 30, bad_alloc 10, null 10
// JSON: (of("plugin_new").blocks, of("plugin_new").bytes, of("plugin_new").kinds) == (10, 120, ["new"])
// JSON: (of("plugin_new_array").blocks, of("plugin_new_array").kinds) == (10, ["new[]"])
// JSON: not any(r.verdict == "unfreed" for r in hits("plugin_throws"))
// JSON: p.coverage.unknown_frees == 0

#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    for (int i = 0; i < 10; i++) {
        void *h = dlopen(argv[1], RTLD_NOW | RTLD_DEEPBIND);
        if (!h) { puts(dlerror()); return 1; }
        int (*f)(int) = (int (*)(int))dlsym(h, "plugin_run");
        int end = f(i);
        if (i == 9) printf("caught %d, bad_alloc %d, null %d\n", end & 255, end >> 8 & 255, end >> 16);
        if (i % 2) dlclose(h);
    }
    return 0;
}
