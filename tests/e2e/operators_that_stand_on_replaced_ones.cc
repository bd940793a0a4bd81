// Hard case 25: a program replaces only the plain new and delete, with something before each block. All other
// forms go by way of these, as the C++ library has it, and no pair of forms is called wrong. A class has an
// operator new of its own; new with a huge size throws, nothrow new returns null.
// CFLAGS: -O0 -g -fno-builtin -fsized-deallocation
// CFLAGS: -O2 -g -fno-builtin -fsized-deallocation
// EXPECT: ^7 allocated, 7 released$
// EXPECT: ^thrown, null, thrown$
// JSON: p.errors == [] and p.coverage.unknown_frees == 0
// JSON: of("left").blocks == 1 and of("left").bytes == 4 + 16 and of("left").kinds == ["malloc"]

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

void *volatile sink;
static int allocated, released;

void *operator new(std::size_t n)
{
    char *p = n < (std::size_t)-17 / 2 ? (char *)malloc(n + 16) : nullptr;
    if (!p)
        throw std::bad_alloc();
    memcpy(p, "program's", 10);
    allocated++;
    return p + 16;
}
void operator delete(void *p) noexcept
{
    char *whole = (char *)p - 16;
    if (!p)
        return;
    if (strcmp(whole, "program's"))
        abort();
    released++;
    free(whole);
}
struct Own {
    int x[2];
    static void *operator new(std::size_t) { return malloc(64); }
    static void operator delete(void *p) { free(p); }
};
struct Thing { char c[24]; ~Thing() { sink = this; } };

__attribute__((noinline)) void left() { sink = new int; }

int main()
{
    volatile std::size_t huge = (std::size_t)-1 / 2;
    const char *first = "not thrown", *second = first;
    int *i = new int; sink = i; delete i;
    Thing *t = new Thing; sink = t; delete t;
    t = new Thing[3]; sink = t; delete[] t;
    i = new int[9]; sink = i; delete[] i;
    i = new (std::nothrow) int; sink = i; operator delete(i, std::nothrow);
    i = new (std::nothrow) int[2]; sink = i; delete[] i;
    Own *o = new Own; sink = o; delete o;
    operator delete(operator new(10), (std::size_t)10);
    printf("%d allocated, %d released\n", allocated, released);
    left();
    try { sink = operator new(huge); } catch (std::bad_alloc &) { first = "thrown"; }
    try { sink = operator new[](huge); } catch (std::bad_alloc &) { second = "thrown"; }
    sink = operator new[](huge, std::nothrow);
    printf("%s, %s, %s\n", first, sink ? "not null" : "null", second);
}
