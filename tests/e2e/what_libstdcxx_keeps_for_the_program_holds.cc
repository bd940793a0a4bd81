// Memory of the C++ library that holds a pointer of the program's: an exception in flight, a facet of a
// locale, the state of a std::thread. What these point to is reachable; what is dropped beside it is lost.
// CFLAGS: -O0 -g
// CFLAGS: -O2 -g
// JSON: all(set(verdict(name)) == {"reachable"} and of(name).blocks == 1 for name in ("in_exception", "in_facet", "in_thread"))
// JSON: verdict("dropped") == {"lost": (1, 56)}

#include "lib/verdicts.h"
#include <exception>
#include <locale>
#include <thread>

TAKE(in_exception, 40)
TAKE(in_facet, 40)
TAKE(in_thread, 40)
LOSE(dropped, 56)

struct facet : std::locale::facet {
    static std::locale::id id;
    void *it = in_facet();
};
std::locale::id facet::id;
static std::exception_ptr error;
static std::locale *names;

FAR static void raise_it()
{
    try {
        throw in_exception();
    } catch (...) {
        error = std::current_exception();
    }
}

FAR static void start()
{
    std::thread([it = in_thread()]() mutable {
        for (;;) {
            usleep(1000000);
            asm volatile("" : : "m"(it));
        }
    }).detach();
}

int main()
{
    raise_it();
    names = new std::locale(std::locale::classic(), new facet);
    start();
    usleep(50000);
    dropped();
    scrub();
    _exit(0);
}
