// If a function loses blocks of one stack from several lines, each line is told with its blocks: those of the function
// that allocates, else those of the nearest caller. Lines of far callers are not told, nor where there is one line.
// CFLAGS: -O0 -g -fno-builtin
// RUN: %leak %t; %report --top=0 store/*.leak
// EXPECT: ^     and 80 bytes in 1 block called by near_by\(\) in line 30$
// EXPECT: ^     and 50 bytes in 1 block at .*\.c:38$
// REFUSE: called by (make|once|far_[0-9]|main)\(\) in line
// JSON: sorted((l.function, l.bytes, l.blocks) for l in hits("near_by")[0].lines) == [("near_by", 80, 1), ("near_by", 160, 2)]
// JSON: sorted((l.function, l.bytes) for l in hits("itself")[0].lines) == [("itself", 50), ("itself", 100)]
// JSON: [r.lines for r in hits("once") + hits("far_1")] == [[], []]

#include <stdlib.h>

#define FAR __attribute__((noinline))

FAR void *make(size_t size)
{
    return malloc(size);
}
FAR void *between(size_t size)
{
    return make(size);
}

FAR void near_by(void)
{
    for (int i = 0; i < 2; i++)
        between(80);

    between(80);
}

FAR void itself(int odd)
{
    if (!odd)
        malloc(100);
    else
        malloc(50);
}

FAR void once(void)
{
    for (int i = 0; i < 3; i++)
        make(60);
}

FAR void *far_6(void)
{
    return malloc(70);
}
FAR void *far_5(void)
{
    return far_6();
}
FAR void *far_4(void)
{
    return far_5();
}
FAR void *far_3(void)
{
    return far_4();
}
FAR void *far_2(void)
{
    return far_3();
}
FAR void *far_1(void)
{
    return far_2();
}
FAR void far_0(void)
{
    far_1();
    far_1();
}

int main(void)
{
    near_by();
    for (int odd = 0; odd < 2; odd++)
        itself(odd);
    once();
    far_0();
    return 0;
}
