// Hard case 6: the buffer of a std::string, in the layout that points to its start and in the older one
// that points behind a length, a capacity and a count: reachable, also in containers of strings.
// CFLAGS: -O0 -g -fno-builtin
// CFLAGS: -O2 -g -fno-builtin
// CFLAGS: -O0 -g -fno-builtin -D_GLIBCXX_USE_CXX11_ABI=0
// CFLAGS: -O2 -g -fno-builtin -D_GLIBCXX_USE_CXX11_ABI=0
// JSON: list(verdict("make_one")) == ["reachable"] and of("make_one").blocks == 2
// JSON: list(verdict("make_many")) == ["reachable"] and of("make_many").blocks >= 102
// JSON: sorted(verdict("make_dropped")) == ["indirect", "lost"]
// JSON: lost_total[0] == 2

#include "lib/verdicts.h"
#include <list>
#include <string>
#include <vector>

static std::string *volatile one;
static std::vector<std::string> *volatile many;
FAR static void make_one() { one = new std::string(100, 'x'); }
FAR static void make_dropped() { sink = new std::string(200, 'y'); sink = nullptr; }
FAR static void make_many()
{
    many = new std::vector<std::string>;
    for (int i = 0; i < 100; i++)
        many->emplace_back(std::string(50 + i, 'z'));
}

int main()
{
    make_one();
    make_many();
    make_dropped();
}
