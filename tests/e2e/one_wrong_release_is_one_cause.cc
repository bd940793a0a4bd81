// Blocks that one line releases wrongly, for many callers and from several allocations, are one cause: one entry with
// its places. Two lines that are wrong are two, and so are blocks of two sizes. The counts are those of all errors.
// CFLAGS: -O0 -g -fsized-deallocation
// RUN: %run %t 2>&1 >/dev/null; %run -v %t 2>&1 >/dev/null | sed 's/^/-v: /'
// EXPECT: ^7 errors in freeing memory \(4 causes, 8 times in all\):$
// EXPECT: ^1\. size-mismatch: sized delete says 16 bytes of 28 bytes of new$
// EXPECT: ^     and 1 time called by second\(\) at .*:[0-9]+, allocated by make_one\(\) at .*:[0-9]+$
// EXPECT: ^     and 2 times called by third\(\) at .*:[0-9]+, allocated by make_other\(\) at .*:[0-9]+$
// EXPECT: ^     and in 1 more place \(-v lists them\)$
// EXPECT: ^-v:      and 1 time called by fourth\(\) at .*:[0-9]+, allocated by make_one\(\)
// EXPECT: ^2\. mismatched-free: 40 bytes of new released by free$
// EXPECT: ^3\. mismatched-free: 40 bytes of new released by free$
// EXPECT: ^4\. mismatched-free: 50 bytes of new released by free$
// REFUSE: ^5\.
// EXPECT: errors=7
#include <cstdlib>
#include <new>
#define PLAIN __attribute__((noinline)) static

PLAIN void *make_one() { return ::operator new(28); }
PLAIN void *make_other() { return ::operator new(28); }
PLAIN void release(void *block) { ::operator delete(block, std::size_t(16)); }
PLAIN void first() { release(make_one()); }
PLAIN void second() { release(make_one()); }
PLAIN void third() { release(make_other()); }
PLAIN void fourth() { release(make_one()); }

static void *volatile block;
PLAIN void in_two_lines()
{
    block = ::operator new(40);
    std::free(block);
    block = ::operator new(40);
    std::free(block);
}
PLAIN void other_size(std::size_t size)
{
    block = ::operator new(size);
    std::free(block);
}

int main()
{
    first();
    second();
    for (int i = 0; i < 2; i++)
        third();
    fourth();
    in_two_lines();
    other_size(50);
    return 0;
}
