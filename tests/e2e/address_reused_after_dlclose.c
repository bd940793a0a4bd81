// Hard case 28: dlopen, leak, dlclose, another library at the same address, leak: both named right.
// BUILD: for n in first_plugin second_plugin; do gcc -w -O1 -g -shared -fPIC -DNAME=leak_of_$n -DSIZE=${#n}00 -o %d/$n.so %S/lib/named.c; done
// RUN: %leak %t %d/first_plugin.so %d/second_plugin.so
// EXPECT: same address 19 times
// JSON: of("leak_of_first_plugin").blocks == 10 and of("leak_of_first_plugin").bytes == 12000
// JSON: of("leak_of_second_plugin").blocks == 10 and of("leak_of_second_plugin").bytes == 13000
// JSON: all(f.line == 8 and f.module.endswith("/first_plugin.so") for f in at("leak_of_first_plugin", all=True))
// JSON: all(f.line == 8 and f.module.endswith("/second_plugin.so") for f in at("leak_of_second_plugin", all=True))
// JSON: not any(f.module and f.module.endswith("/first_plugin.so") for r in hits("leak_of_second_plugin") for f in r.frames)

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    void *last = NULL;
    int same = 0;

    for (int i = 0; i < 20; i++) {
        void *h = dlopen(argv[1 + i % 2], RTLD_NOW | RTLD_LOCAL);
        void (*f)(void) = dlsym(h, "run");
        same += (void *)f == last;
        last = (void *)f;
        f();
        dlclose(h);
    }
    printf("same address %d times\n", same);
    return 0;
}
