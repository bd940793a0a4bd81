// Hard case 30, promise 2.4: the account lives from before the first constructor to after the last
// destructor of other libraries.
// CFLAGS: -O1 -g -fno-builtin
// BUILD: gcc -w -O1 -g -fno-builtin -shared -fPIC -Wl,-soname,liblast.so -o %d/liblast.so %S/lib/last.c
// BUILD: gcc -w -O1 -g -fno-builtin -o %t %s %d/liblast.so -Wl,-rpath,%d
// NOBUILD:
// EXPECT: last destructor ran
// JSON: (of("last_destructor").blocks, of("last_destructor").bytes) == (1, 66)
// JSON: of("freed_in_destructor").blocks == 0
// JSON: of("library_constructor").blocks == 1
// JSON: p.coverage.unknown_frees == 0

#include <stdio.h>
#include <stdlib.h>

extern void *kept_until_destructor;
__attribute__((noinline)) void freed_in_destructor(void) { kept_until_destructor = malloc(11); }

int main(void)
{
    freed_in_destructor();
    return 0;
}
