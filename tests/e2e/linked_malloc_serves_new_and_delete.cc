// If the program has its own malloc, operators new and delete of the C++ library call it, as without libleak: free of a
// block from new does no harm and is reported as a mismatched free. delete of such a block is correct.
// BUILD: gcc -w -D_GNU_SOURCE -O2 -g -fno-builtin -c -o %d/linked_malloc.o %S/lib/linked_malloc.c
// CFLAGS: -O1 -g -fno-builtin linked_malloc.o
// EXPECT: ^all in my heap$
// JSON: wrong == {("mismatched-free", "mistake", "mistake"): 1} and p.end.value == 0
// JSON: verdict("lose") == {"lost": (1, 44)} and of("lose").kinds == ["new"] and of("right").blocks == 0
// JSON: not untracked and p.coverage.unknown_frees == 0

#include <cstdio>
#include <cstdlib>
#include <new>

#define FAR __attribute__((noinline))
static void *volatile sink;

/* The allocator's word in front of a block: its size, which is a power of two there. */
static bool is_mine(void *block)
{
    return ((std::size_t *)block)[-2] == 64 && ((std::size_t *)block)[-1] == 0;
}

FAR static bool mistake()
{
    sink = operator new(40);
    bool mine = is_mine(sink);
    free(sink);
    return mine;
}

FAR static bool right()
{
    sink = operator new(50);
    bool mine = is_mine(sink);
    operator delete(sink);
    return mine;
}

FAR static bool lose()
{
    sink = operator new(44);
    bool mine = is_mine(sink);
    sink = nullptr;
    return mine;
}

int main()
{
    if (mistake() && right() && lose())
        puts("all in my heap");
}
