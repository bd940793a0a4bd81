// Promise 4.14: start_at= takes a C++ function as people write it, or as the compiler does; overloads are one. A function
// that is only nearly called so is not meant.
// RUN: at() { LIBLEAK_OPTIONS="start_at=$1"; export LIBLEAK_OPTIONS; %leak %t; }
// RUN: at "'shop::Till::open'"; at "'shop::Till::open(int)'"; at _ZNK4shop4Till4openEi; at "'shop::Till::Till'"; at plain; at "'plain()'"
// RUN: at "'shop::Till::ope'"; at "'Till::open'"; at "'shop::Till'"; at open
// JSON: [q.summary.lost.bytes for q in procs] == 6 * [100] + 4 * [0]
// JSON: ["never enabled" in " ".join(q.notes) for q in procs] == 6 * [False] + 4 * [True]

#include <stdlib.h>

static void *volatile sink;

__attribute__((noinline)) static void lose(size_t size)
{
    sink = malloc(size);
    sink = nullptr;
}

namespace shop
{
struct Till {
    int money;
    __attribute__((noinline)) Till() : money(0)
    {
        __asm__ volatile("");
    }
    __attribute__((noinline)) void open(int n) const
    {
        __asm__ volatile("");
        sink = (void *)(long)(money + n);
    }
};
} // namespace shop

__attribute__((noinline)) static void plain()
{
    __asm__ volatile("nop"); // on i386 a breakpoint has two bytes
}

int main()
{
    lose(20);
    shop::Till till;
    till.open(3);
    plain();
    lose(100);
}
