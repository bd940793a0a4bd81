// A single leak has callers on all free lines of the screen, before source lines of callers and resources opened once;
// a screen of 24 lines is not exceeded.
// CFLAGS: -O0 -g -fno-optimize-sibling-calls
// RUN: %run %t >shown 2>&1; cat shown; test $(wc -l <shown) -le 25 && echo fits
// EXPECT: ^ +l1 +.*:[0-9]+$
// EXPECT: ^ +\| +return malloc\(77\);
// EXPECT: ^ +forgetful +.*:[0-9]+$
// EXPECT: ^ +main +.*:[0-9]+$
// EXPECT: ^Still open: stream /dev/null, in main at .*:[0-9]+\.$
// EXPECT: ^libleak: pid=[0-9]+ lost=77/1/1
// EXPECT: ^fits$
// REFUSE: more caller
#include <stdio.h>
#include <stdlib.h>
#define FAR __attribute__((noinline))

FAR void *l1(void)
{
    return malloc(77);
}
FAR void *l2(void)
{
    return l1();
}
FAR void *l3(void)
{
    return l2();
}
FAR void *l4(void)
{
    return l3();
}
FAR void *l5(void)
{
    return l4();
}
FAR void *l6(void)
{
    return l5();
}
FAR void *l7(void)
{
    return l6();
}
FAR void forgetful(void)
{
    *(char *)l7() = 1;
}

FAR void scrub(void)
{
    volatile char stack[4096] = {0};
    (void)stack;
}

int main(void)
{
    FILE *null = fopen("/dev/null", "w");

    forgetful();
    scrub();
    return null == NULL;
}
