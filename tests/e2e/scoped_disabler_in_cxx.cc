// The C++ form, a scope that disables, left by return and by an exception: ignored inside, lost after.
// CFLAGS: -O0 -g -fno-builtin
// CFLAGS: -O2 -g -fno-builtin
// JSON: verdict("inside") == {"reachable": (2, 80)} and one("inside").ignored is True
// JSON: verdict("outside") == {"lost": (2, 48)}

#include "lib/verdicts.h"
#include "lib/lsan.h"

struct Disabler {
    Disabler() { LSAN(__lsan_disable()); }
    ~Disabler() { LSAN(__lsan_enable()); }
};
FAR static void inside() { sink = operator new(40); sink = nullptr; }
FAR static void outside() { sink = operator new(24); sink = nullptr; }
FAR static void scope(bool fails)
{
    Disabler here;

    inside();
    if (fails)
        throw 1;
}

int main()
{
    scope(false);
    outside();
    try {
        scope(true);
    } catch (int) {
    }
    outside();
}
