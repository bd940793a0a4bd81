// The function to fix is mostly a caller: on a full screen up to eleven callers of the first record have lines, rather
// than empty lines, times and the leak check. With a short stack there is room for those.
// CFLAGS: -O0 -g -fno-builtin
// RUN: %leak %t; mv store/*.leak deep; %leak %t short; for s in deep store/*.leak; do %report $s | sed "s|^|$(basename $s .leak): |"; done
// EXPECT: ^deep:      c0 +eleven
// EXPECT: ^deep:      main +eleven
// REFUSE: ^deep: .*(more caller|Leak check at exit|All these blocks)
// EXPECT: ^t.*: Leak check at exit
// EXPECT: ^t.*: All these blocks were allocated

#include <stdlib.h>

#define FAR __attribute__((noinline))

FAR void *c10(void)
{
    return malloc(40);
}
FAR void *c9(void)
{
    return c10();
}
FAR void *c8(void)
{
    return c9();
}
FAR void *c7(void)
{
    return c8();
}
FAR void *c6(void)
{
    return c7();
}
FAR void *c5(void)
{
    return c6();
}
FAR void *c4(void)
{
    return c5();
}
FAR void *c3(void)
{
    return c4();
}
FAR void *c2(void)
{
    return c3();
}
FAR void *c1(void)
{
    return c2();
}
FAR void *c0(void)
{
    return c1();
}

FAR void *other(void)
{
    return malloc(20);
}

FAR void *not_deep(void)
{
    return malloc(40);
}

int main(int argc, char **argv)
{
    argc > 1 ? not_deep() : c0();
    other();
    return 0;
}
