// Hard case 6: the only pointer is to the second base of an object with several: it points to a table of
// virtual functions and so does the start: reachable. Without virtual functions it is any pointer into a
// block: possible.
// CFLAGS: -O0 -g -fno-builtin
// CFLAGS: -O2 -g -fno-builtin
// JSON: verdict("make_virtual") == {"reachable": (1, 56)}
// JSON: verdict("make_member") == {"reachable": (1, 64)}
// JSON: verdict("make_plain") == {"possible": (1, 48)}

#include "lib/verdicts.h"

struct A { virtual ~A() {} long a = 1; };
struct B { virtual ~B() {} long b = 2; };
struct AB : A, B { long c[2] = { 3, 4 }; void *member = nullptr; };
struct P { long a = 1, b = 2; };
struct Q { long c = 3; };
struct PQ : P, Q { long d[3] = { 4, 5, 6 }; };
static B *volatile held;
static Q *volatile plain;

FAR static void *make_member() { void *p = malloc(64); return opaque(p); }
FAR static void make_virtual(void *member)
{
    AB *p = new AB;
    p->member = member;
    held = p;
}
FAR static void make_plain() { plain = new PQ; }

int main()
{
    static_assert(sizeof(AB) == 56 && sizeof(PQ) == 48, "");
    make_virtual(make_member());
    make_plain();
}
