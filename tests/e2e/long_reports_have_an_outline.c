// More than five records do not fit a screen: then each has a line first, with the bytes that a fix releases, and with
// its verdict if the first record has another one. Five records have none, nor has a list of more than ten: its
// outline would fill the screen. Nor do details that were asked for.
// CFLAGS: -O0 -g -fno-builtin
// RUN: %leak %t; mv store/*.leak few; %leak %t more; for top in 10 5; do %report --top=$top few >$top; done; %report -v few >v; %report --top=10 store/*.leak >ten; %report --top=0 store/*.leak >all; cat 10; grep -c "In short" 10 5 v ten all | sed 's/^/outlines: /'
// EXPECT: ^   1\. +640 bytes  one +long_rep.*\.c:[0-9]+$
// EXPECT: ^   5\. +60 bytes  five +long_rep.*\.c:[0-9]+$
// EXPECT: ^   6\. +99 bytes possibly lost  inside +long_rep.*\.c:[0-9]+$
// REFUSE: [0-9] bytes lost
// EXPECT: ^outlines: 10:1$
// EXPECT: ^outlines: 5:0$
// EXPECT: ^outlines: v:0$
// EXPECT: ^outlines: ten:1$
// EXPECT: ^outlines: all:0$
// JSON: len(p.records) == 11

#include <stdlib.h>

#define LOSE(name, size)                                                                           \
    __attribute__((noinline)) void name(void)                                                      \
    {                                                                                              \
        malloc(size);                                                                              \
    }

LOSE(one, 640)
LOSE(two, 500)
LOSE(three, 400)
LOSE(four, 300)
LOSE(five, 60)
LOSE(six, 50)
LOSE(seven, 40)
LOSE(eight, 30)
LOSE(nine, 20)
LOSE(ten, 10)

static char *volatile held;

__attribute__((noinline)) void inside(void)
{
    held = (char *)malloc(99) + 40;
}

int main(int argc, char **argv)
{
    one();
    two();
    three();
    four();
    five();
    inside();
    if (argc < 2)
        return 0;
    six();
    seven();
    eight();
    nine();
    ten();
    return 0;
}
