// Hard case 12: a static vector of pointers goes in its destructor, its elements stay: they were in use
// when main returned, so they are reachable, "dropped by exit code"; what a static unique_ptr frees is
// not reported; what was lost before stays lost.
// CFLAGS: -O0 -g -fno-builtin
// CFLAGS: -O2 -g -fno-builtin
// JSON: verdict("element") == {"reachable": (100, 100 * 40)} and one("element").dropped is True
// JSON: verdict("kept") == {"reachable": (1, 56)} and not one("kept").dropped
// JSON: of("owned").blocks == 0
// JSON: verdict("dropped") == {"lost": (1, 72)}
// JSON: lost_total == (1, 72)

#include "lib/verdicts.h"
#include <memory>
#include <vector>

struct T { char x[40]; };
static std::vector<T *> all;
static std::unique_ptr<T> one;
static void *volatile global;
FAR static void element() { all.push_back((T *)opaque(malloc(40))); }
FAR static void owned() { one.reset(new T); }
TAKE(kept, 56)
LOSE(dropped, 72)

int main()
{
    all.reserve(100);
    for (int i = 0; i < 100; i++)
        element();
    owned();
    global = kept();
    dropped();
}
