// Where several leaks share the screen each stack that is cut says how many callers are left out, and a report that can
// fit 24 lines does. A stack of one more frame shows it instead.
// CFLAGS: -O0 -g -fno-optimize-sibling-calls
// RUN: %run %t >shown 2>&1; cat shown; test $(wc -l <shown) -le 25 && echo fits; test $(grep -cE "more callers| main " shown) = 4 && echo each
// EXPECT: ^ +[2-9] more callers \(-v shows them\)$
// EXPECT: ^each$
// EXPECT: ^fits$
// EXPECT: ^4\. 44 bytes
// REFUSE: ^ +1 more caller
#include <stdlib.h>
#define FAR __attribute__((noinline))

FAR void *a1(void) { return malloc(111); }
FAR void *a2(void) { return a1(); }
FAR void *a3(void) { return a2(); }
FAR void *a4(void) { return a3(); }
FAR void *a5(void) { return a4(); }
FAR void *a6(void) { return a5(); }
FAR void *a7(void) { return a6(); }
FAR void *b1(void) { return malloc(88); }
FAR void *b2(void) { return b1(); }
FAR void *b3(void) { return b2(); }
FAR void *b4(void) { return b3(); }
FAR void *b5(void) { return b4(); }
FAR void *b6(void) { return b5(); }
FAR void *b7(void) { return b6(); }
FAR void *c1(void) { return malloc(66); }
FAR void *c2(void) { return c1(); }
FAR void *c3(void) { return c2(); }
FAR void *c4(void) { return c3(); }
FAR void *c5(void) { return c4(); }
FAR void *c6(void) { return c5(); }
FAR void *c7(void) { return c6(); }
FAR void *d1(void) { return malloc(44); }
FAR void *d2(void) { return d1(); }
FAR void *d3(void) { return d2(); }

FAR void leak(void *(*how)(void)) { *(char *)how() = 1; }

FAR void scrub(void)
{
    volatile char stack[4096] = {0};
    (void)stack;
}

int main(void)
{
    leak(a7);
    leak(b7);
    leak(c7);
    leak(d3);
    scrub();
    return 0;
}
