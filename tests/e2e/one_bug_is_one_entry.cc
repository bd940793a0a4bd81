// An object whose destructor never ran is one entry, however its members were made, and so is a pointer that
// is overwritten for two callers; --apart lists the records. A function that leaks in several lines is shown
// with all of them. Where another caller's blocks are freed, each caller that leaks is an entry.
// CFLAGS: -O0 -g
// RUN: %run --top=0 %t 2>&1; echo; %run -q %t; %run --top=0 --apart %t 2>&1 | sed 's/^/apart: /'
// EXPECT: ^1\. 762 bytes in 12 of 12 blocks lost \(new\[\]\), 2 places
// EXPECT: ^     Widget::Widget  .*cc:33$
// EXPECT: ^     and 300 bytes in 3 blocks at .*one_bug_is_one_entry.cc:35$
// EXPECT: ^2\. 144 bytes in 2 of 2 blocks lost \(malloc\), 2 places
// EXPECT: ^     and 72 bytes in 1 block called by second\(\) at .*one_bug_is_one_entry.cc:45$
// EXPECT: ^3\. 56 bytes in 1 block lost \(malloc\)
// EXPECT: ^4\. 56 bytes in 1 block lost \(malloc\)
// EXPECT: ^   [> ] never freed when allocated here; other blocks from this line are freed in$
// EXPECT: ^       good,( called by main at one_bug.*)?$
// EXPECT: ^5\. 24 bytes in 3 of 3 blocks lost \(malloc\)
// EXPECT: ^     and 8 bytes in 1 block at .*one_bug_is_one_entry.cc:64$
// EXPECT: ^     and 7 bytes in 1 block at .*one_bug_is_one_entry.cc:63$
// REFUSE: ^6\.
// EXPECT: ^apart: 1\. 462 bytes in 9 of 9 blocks
// EXPECT: ^apart: 2\. 300 bytes in 3 of 3 blocks
// EXPECT: ^apart: 3\. 72 bytes in 1 block
// EXPECT: ^apart: 4\. 72 bytes in 1 block
// EXPECT: ^apart: 7\. 24 bytes in 3 of 3 blocks
// REFUSE: ^apart: 8\.
#include <cstdlib>
#include <cstring>
#define PLAIN __attribute__((noinline)) static

PLAIN char *copy_of(const char *text) { return std::strcpy(new char[100], text); }

struct Widget {
    Widget()
        : a(new char[64]),
          b(new char[50]),
          c(copy_of("c")), d(new char[40])
    {
    }
    ~Widget() { delete[] a; delete[] b; delete[] c; delete[] d; }
    char *a, *b, *c, *d;
};

static void *name;
PLAIN void rename() { name = calloc(1, 72); }
PLAIN void first() { rename(); }
PLAIN void second() { rename(); }

PLAIN void *fill() { return calloc(1, 56); }
PLAIN void bad() { name = fill(); }
PLAIN void worse() { name = fill(); }
PLAIN void good() { free(fill()); }

int main()
{
    for (int i = 0; i < 3; i++)
        ::operator delete(std::memset((void *)new Widget, 0, sizeof(Widget)));
    first();
    second();
    for (int i = 0; i < 200; i++)
        good();
    bad();
    worse();
    name = std::memset(malloc(9), 0, 9);
    name = std::memset(malloc(7), 0, 7);
    name = std::memset(malloc(8), 0, 8);
    name = nullptr;
}
