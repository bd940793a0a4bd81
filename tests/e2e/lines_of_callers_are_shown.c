// If a function loses blocks of one stack from several lines, each line is told with its blocks: those of the function
// that allocates, else those of the nearest caller. Lines of far callers are not told, nor where there is one line.
// A function that calls itself is its own caller. --anonymize removes directories.
// CFLAGS: -O0 -g -fno-builtin
// RUN: %leak %t; %report --top=0 store/*.leak; %report --format=html store/*.leak | grep -oE '"(lc|l)":[a-z0-9]*' | sort | uniq -c; ! %report --anonymize --format=json store/*.leak | grep -oE '"(file|module)": ?"[^"]*/.*'
// EXPECT: ^     and 80 bytes in 1 block called by near_by\(\) in line 36$
// EXPECT: ^     and 50 bytes in 1 block at .*\.c:44$
// EXPECT: ^     and 90 bytes in 1 block called by again\(\) in line (88|90)$
// EXPECT: ^ *2 "lc":true$
// EXPECT: ^ *3 "l":$
// REFUSE: near_by\(\) in line 33|at .*\.c:(88|90)$
// REFUSE: called by (make|once|far_[0-9]|main)\(\) in line
// JSON: sorted((l.function, l.bytes, l.blocks) for l in hits("near_by")[0].lines) == [("near_by", 80, 1), ("near_by", 160, 2)]
// JSON: "/" in hits("near_by")[0].lines[0].file
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
    between(80), between(80); /* one line, two return addresses */

    /* another line */
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

FAR void again(int depth, int odd)
{
    if (!depth)
        malloc(90);
    else if (odd)
        again(0, odd);
    else
        again(0, odd);
}

int main(void)
{
    near_by();
    for (int odd = 0; odd < 2; odd++)
        itself(odd), again(1, odd);
    once();
    far_0();
    return 0;
}
