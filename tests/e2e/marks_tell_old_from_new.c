// A mark, or a look that was asked for, divides what a later look found into what came before and after it; what
// came between two looks and lives at a third has survived.
// RUN: %leak %t
// RUN: %report --since=second store/t.*.leak >since; %report --until=second store/t.*.leak >until; %report --since=first --until=second store/t.*.leak >between
// RUN: %report --format=json -o look1.json look1
// RUN: %report diff --survivors look1.json look2 look3 >survivors
// RUN: for of in since until between survivors; do echo "$of:" $(grep -o '^ *by_[a-z_]*\|[0-9,]* bytes in [0-9 of]* blocks\? lost ([mr]' $of); done
// RUN: %report --since=third store/t.*.leak; echo "unknown: $?"
// RUN: %report --since=second --until=first store/t.*.leak; echo "turned round: $?"
// RUN: %report diff --survivors look1 look3 look2; echo "not in order: $?"
// RUN: %report diff --survivors look1 look2; echo "too few: $?"
// RUN: %report --since=first early; echo "no look: $?"
// EXPECT: ^since: 400 bytes in 1 block lost \(m by_second$
// EXPECT: ^until: 200 bytes in 2 of 2 blocks lost \(m by_first 10 bytes in 1 block lost \(m by_oldest$
// EXPECT: ^between: 200 bytes in 2 of 2 blocks lost \(m by_first$
// EXPECT: ^survivors: 200 bytes in 2 of 2 blocks lost \(m by_first$
// EXPECT: has no mark called 'third'; marks: second, first$
// EXPECT: ^unknown: 2$
// EXPECT: ^turned round: 2$
// EXPECT: is no later look than
// EXPECT: ^not in order: 2$
// EXPECT: takes three looks
// EXPECT: ^too few: 2$
// EXPECT: has no look at the heap after 'first'.* leakctl snapshot
// EXPECT: ^no look: 2$

#include "../../include/libleak.h"

#include <stdio.h>
#include <stdlib.h>

static void *volatile sink;

__attribute__((noinline)) static void by_oldest(void)
{
    sink = malloc(10);
    __asm__ volatile("");
}
__attribute__((noinline)) static void by_first(void)
{
    sink = malloc(100);
    __asm__ volatile("");
}
__attribute__((noinline)) static void by_second(void)
{
    sink = malloc(400);
    __asm__ volatile("");
}

/* The store as it is now. */
static void keep(const char *as)
{
    char command[64];
    snprintf(command, sizeof command, "cp store/t.*.leak %s", as);
    sink = NULL;
    if (system(command))
        abort();
}

int main(void)
{
    by_oldest();
    libleak_mark("first");
    keep("early");
    libleak_snapshot();
    keep("look1");
    by_first();
    by_first();
    libleak_mark("second");
    libleak_snapshot();
    keep("look2");
    by_second();
    sink = NULL;
    libleak_snapshot();
    keep("look3");
    return 0;
}
