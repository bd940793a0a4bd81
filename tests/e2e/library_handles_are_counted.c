// With track=dl: a library opened three times and closed twice is open once; one that is closed as often as
// it was opened is not told, nor is one that could not be opened, nor the program itself. The caller's
// RUNPATH still finds a library without a path.
// CFLAGS: -O1 -g -fno-optimize-sibling-calls '-Wl,-rpath,$ORIGIN/there' -Wl,--enable-new-dtags
// BUILD: mkdir -p there; echo 'int x;' >x.c; cc -shared -fPIC -Wl,-soname,libbyname.so.1 -o there/libbyname.so.1.2 x.c; ln -sf libbyname.so.1.2 there/libbyname.so.1; cc -shared -fPIC -o bypath.so x.c
// RUN: LIBLEAK_OPTIONS=track=dl; %leak %t
// JSON: opened("three_times") == {"dl": 1} and res("three_times").name.endswith("/bypath.so")
// JSON: opened("by_name") == {"dl": 2} and res("by_name").name == "libbyname.so.1"
// JSON: sum(r.count for r in p.resources) == 3

#include <dlfcn.h>
#include <stddef.h>

#define FAR __attribute__((noinline))

FAR void *three_times(void) { return dlopen("./bypath.so", RTLD_NOW); }
FAR void *by_name(void) { return dlopen("libbyname.so.1", RTLD_NOW); }
FAR void *closed(void) { return dlopen("libm.so.6", RTLD_NOW); }
FAR void *not_there(void) { return dlopen("libnothing.so.7", RTLD_NOW); }
FAR void *itself(void) { return dlopen(NULL, RTLD_NOW); }

int main(void)
{
    void *handle = NULL;
    for (int i = 0; i < 3; i++)
        handle = three_times();
    dlclose(handle);
    dlclose(handle);
    for (int i = 0; i < 4; i++)
        handle = by_name();
    if (!handle)
        return 1;
    dlclose(handle);
    dlclose(handle);
    for (int i = 0; i < 100; i++)
        dlclose(closed());
    return not_there() || !itself();
}
