// Hard case 21: an empty main in C++, iostream, an exception, a thread, a static of each kind: no lost
// block, nor an indirect, possible or hidden one.
// CFLAGS: -O0 -g -DBODY=0
// CFLAGS: -O2 -g -DBODY=0
// CFLAGS: -O0 -g -DBODY=1
// CFLAGS: -O2 -g -DBODY=1
// CFLAGS: -O0 -g -DBODY=2
// CFLAGS: -O2 -g -DBODY=2
// CFLAGS: -O0 -g -DBODY=3
// CFLAGS: -O2 -g -DBODY=3
// JSON: all(p.summary[v].blocks == 0 and p.summary[v].records == 0 for v in ("lost", "indirect", "possible", "hidden", "unfreed"))
// JSON: p.snapshot.rung == "parked" and p.end.value == 0

#include <iostream>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>

static std::map<int, std::string> &registry()
{
    static std::map<int, std::string> r;
    return r;
}
static thread_local std::string name = "a name that does not fit the object itself";

int main()
{
    if (BODY == 1)
        std::cout << 1 << std::endl;
    if (BODY == 2)
        try {
            throw std::runtime_error("no");
        } catch (std::exception &) {
        }
    if (BODY == 3) {
        for (int i = 0; i < 100; i++)
            registry()[i] = std::string(i, 'x');
        std::thread([] { name += "!"; }).join();
    }
}
