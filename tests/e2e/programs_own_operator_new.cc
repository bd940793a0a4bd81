// Hard case 25: the program replaces operator new and delete, a class has its own: blocks are tracked as
// what they are, malloc's, under the program's function; nothing is counted twice.
// CFLAGS: -O1 -g -fno-builtin
// RUN: %leak %t 5; %leak %t 0
// JSON: of("make_plain").blocks == 5 and of("make_plain").bytes == 5 * (4 + 16) and of("make_plain").kinds == ["malloc"]
// JSON: of("make_class").blocks == 5 and of("make_class").bytes == 5 * 64 and of("make_class").kinds == ["malloc"]
// JSON: of("freed").blocks == 0
// JSON: all(q.errors == [] for q in procs)
// JSON: p.totals.allocations - procs[1].totals.allocations == 20

#include <cstdlib>
#include <new>

void *volatile sink;
__attribute__((noinline)) void *operator new(std::size_t n) { return (char *)malloc(n + 16) + 16; }
__attribute__((noinline)) void operator delete(void *p) noexcept { if (p) free((char *)p - 16); }
void operator delete(void *p, std::size_t) noexcept { operator delete(p); }
struct Own {
    int x[2];
    static void *operator new(std::size_t) { return malloc(64); }
    static void operator delete(void *p) { free(p); }
};
__attribute__((noinline)) void make_plain() { sink = new int; }
__attribute__((noinline)) void make_class() { sink = new Own; }
__attribute__((noinline)) void freed() { Own *o = new Own; sink = o; delete o; int *i = new int; sink = i; delete i; }

int main(int, char **argv)
{
    for (int n = atoi(argv[1]); n > 0; n--) { make_plain(); make_class(); freed(); }
}
