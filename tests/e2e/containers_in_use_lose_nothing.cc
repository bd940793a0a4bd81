// Containers of the C++ library, held by globals, by main's locals at exit() and by thread-local variables,
// full of each other: not one block is lost, nor only possible.
// CFLAGS: -O0 -g -fno-builtin
// CFLAGS: -O2 -g -fno-builtin
// EXPECT: ^filled$
// JSON: all(p.summary[v].blocks == 0 for v in ("lost", "indirect", "possible", "hidden"))
// JSON: verdict("dropped") == {}

#include "lib/verdicts.h"
#include <deque>
#include <forward_list>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

struct Base { virtual ~Base() {} };
struct Other { virtual ~Other() {} };
struct Both : Base, virtual Other { std::string s = "a string too long to stay inside the object"; };
struct All {
    std::vector<std::string> v;
    std::list<std::shared_ptr<Base>> l;
    std::forward_list<std::unique_ptr<Other>> f;
    std::deque<std::map<std::string, std::vector<int>>> d;
    std::unordered_map<std::string, std::set<std::string>> u;
    std::multimap<int, std::weak_ptr<Base>> w;
    std::function<void()> call;
    std::vector<bool> bits;
    std::unique_ptr<Both[]> array;

    FAR void fill()
    {
        for (int i = 0; i < 200; i++) {
            std::string s = "string number " + std::to_string(i) + std::string(i, '.');
            v.push_back(s);
            l.push_back(std::make_shared<Both>());
            l.push_back(std::shared_ptr<Base>(new Both));
            f.push_front(std::unique_ptr<Other>(new Both));
            d.push_back({ { s, std::vector<int>(i + 1, i) } });
            u[s].insert({ s + "a", s + "b" });
            w.emplace(i, l.back());
        }
        call = [copy = v] { (void)copy; };
        bits.resize(100000);
        array.reset(new Both[7]);
    }
};
static All global;
static thread_local All local_to_thread;

int main()
{
    All local;

    global.fill();
    local_to_thread.fill();
    local.fill();
    puts("filled");
    fflush(stdout);
    exit(0);
}
