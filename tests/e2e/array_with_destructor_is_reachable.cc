// Hard case 6: new T[n] where T has a destructor: the pointer is to the first element, behind the count:
// reachable. The same pointer into a block that does not begin with a fitting count: possible.
// CFLAGS: -O0 -g -fno-builtin
// CFLAGS: -O2 -g -fno-builtin
// JSON: verdict("make_array") == {"reachable": (1, 8 + 10 * 24)} and one("make_array").kind == "new[]"
// JSON: verdict("make_other") == {"possible": (1, 8 + 10 * 24)}

#include "lib/verdicts.h"

struct T { long x[3]; T() : x{ 1, 2, 3 } {} ~T() { x[0] = 0; } };
static T *volatile array;
static char *volatile other;
FAR static void make_array(int n) { array = new T[n]; }
FAR static void make_other()
{
    char *p = (char *)malloc(248);
    *(long *)p = 7919; /* divides nothing */
    other = p + 8;
}

int main(int argc, char **)
{
    make_array(argc * 10);
    make_other();
}
