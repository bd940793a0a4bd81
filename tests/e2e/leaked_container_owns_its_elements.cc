// Hard case 12: a vector and a map that are leaked: one lost block each, elements and buffers indirect
// under it, all counted as retained by it.
// CFLAGS: -O0 -g -fno-builtin
// CFLAGS: -O2 -g -fno-builtin
// JSON: verdict("lose_vector") == {"lost": (1, 24), "indirect": (101, 800 + 4000)}
// JSON: verdict("element") == {"indirect": (100, 100 * 40)}
// JSON: under("element", "lose_vector")
// JSON: one("lose_vector", "lost").retained == {"blocks": 102, "bytes": 24 + 800 + 4000}
// JSON: verdict("lose_map")["lost"] == (1, 48) and verdict("lose_map")["indirect"][0] == 20
// JSON: p.summary.lost.blocks == 2

#include "lib/verdicts.h"
#include <map>
#include <vector>

struct T { char x[40]; };
FAR static T *element() { T *p = new T; return (T *)opaque(p); }
FAR static void lose_vector()
{
    auto *v = new std::vector<T *>;
    v->reserve(100);
    for (int i = 0; i < 100; i++)
        v->push_back(element());
    opaque(v);
}
FAR static void lose_map()
{
    auto *m = new std::map<int, int>;
    for (int i = 0; i < 20; i++)
        (*m)[i] = i;
    opaque(m);
}

int main()
{
    lose_vector();
    lose_map();
}
