// Hard case 5: new T[0] where T has a destructor: the pointer is one past the word that holds the count,
// and that is all there is. Dropped, it is lost as any other.
// CFLAGS: -O0 -g -fno-builtin
// CFLAGS: -O2 -g -fno-builtin
// JSON: verdict("make_held") == {"reachable": (1, 8)} and one("make_held").kind == "new[]"
// JSON: verdict("make_dropped") == {"lost": (1, 8)}

#include "lib/verdicts.h"

struct T { int x = 7; ~T() { x = 0; } };
static T *volatile held, *volatile dropped;
FAR static void make_held(int n) { held = new T[n]; }
FAR static void make_dropped(int n) { dropped = new T[n]; dropped = nullptr; }

int main(int argc, char **)
{
    make_held(argc - 1);
    make_dropped(argc - 1);
}
