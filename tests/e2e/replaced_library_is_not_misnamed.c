// Hard case 28: the library is replaced, then deleted after the run: said, and never mis-resolved.
// BUILD: for n in right wrong; do gcc -w -O1 -g -shared -fPIC -DNAME=leak_of_$n -DSIZE=100 -o %d/$n.so %S/lib/named.c; done
// RUN: cp right.so plug.so; %leak %t %d/plug.so
// RUN: echo BEFORE; %report store/*.leak | sed 's/^/1 /'
// RUN: cp wrong.so new.so; mv new.so plug.so; echo REPLACED; %report store/*.leak 2>&1 | sed 's/^/2 /'
// RUN: rm plug.so; echo DELETED; %report store/*.leak 2>&1 | sed 's/^/3 /'
// EXPECT: ^1 .*leak_of_right
// EXPECT: ^2 .*plug\.so
// EXPECT: ^2 .*(build-id|replaced|differs|not the (same )?file|another file|changed)
// EXPECT: ^3 .*plug\.so\+0x
// EXPECT: ^3 .*(missing|not found|gone|deleted|no longer exists|No such file|cannot)
// REFUSE: leak_of_wrong
// REFUSE: ^[23] .*leak_of_right
// JSON: any("plug.so" in m for m in map(str, p.coverage.modules_without_debuginfo)) or "plug.so" in notes
// JSON: any(f.module and f.module.endswith("/plug.so") and f.function is None and f.offset for r in p.records for f in r.frames)

#include <dlfcn.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    void *h = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);

    ((void (*)(void))dlsym(h, "run"))();
    return 0;
}
