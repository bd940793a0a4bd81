// More than five records do not fit a screen: then each has a line first, with the bytes that a fix releases. Five
// records have none.
// CFLAGS: -O0 -g -fno-builtin
// RUN: %leak %t; for top in 10 5; do %report --top=$top store/*.leak >$top; done; cat 10; ! grep "In short" 5
// EXPECT: ^   1\. +640 bytes  one +long_rep.*\.c:[0-9]+$
// EXPECT: ^   6\. +60 bytes  six +long_rep.*\.c:[0-9]+$
// JSON: len(p.records) == 6

#include <stdlib.h>

__attribute__((noinline)) void one(void)
{
    malloc(640);
}
__attribute__((noinline)) void two(void)
{
    malloc(500);
}
__attribute__((noinline)) void three(void)
{
    malloc(400);
}
__attribute__((noinline)) void four(void)
{
    malloc(300);
}
__attribute__((noinline)) void five(void)
{
    malloc(200);
}
__attribute__((noinline)) void six(void)
{
    malloc(60);
}

int main(void)
{
    one();
    two();
    three();
    four();
    five();
    six();
    return 0;
}
