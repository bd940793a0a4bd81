// A report that is shortened to fit a screen still ends with the command that follows the lost blocks, in one line; one that
// marks the functions to fix has no use for it.
// CFLAGS: -O0 -g -fno-builtin
// RUN: for how in lost marked; do %run ./t $how 2>&1 >/dev/null | sed "s/^/$how: /"; done; %run ./t lost "$(head -c 70 /dev/zero | tr '\000' x)" 2>&1 >/dev/null | sed "s/^/long: /"
// EXPECT: ^lost: Next: leakrun --when-lost ./t lost$
// EXPECT: ^long: Next: run it again with leakrun --when-lost$
// EXPECT: ^marked:    > [a-z]
// REFUSE: ^marked: Next
#include <stdlib.h>
#include <string.h>

#define FAR __attribute__((noinline))

FAR void lose(size_t size, int marked)
{
    char *own = malloc(size);
    memset(own, 1, size);
    if (marked && size % 2)
        free(own);
}
#define CALL(name, callee)                                                                         \
    FAR void name(size_t size, int marked)                                                         \
    {                                                                                              \
        callee(size, marked);                                                                      \
    }
CALL(one_a, lose)
CALL(one_b, one_a)
CALL(one_c, one_b)
CALL(one_d, one_c)
CALL(two_a, lose)
CALL(two_b, two_a)
CALL(two_c, two_b)
CALL(two_d, two_c)
CALL(three_a, lose)
CALL(three_b, three_a)
CALL(three_c, three_b)
CALL(three_d, three_c)

FAR void scrub(void)
{
    volatile char stack[4096] = {0};
    (void)stack;
}

int main(int argc, char **argv)
{
    int marked = argc > 1 && strcmp(argv[1], "marked") == 0;

    for (size_t i = 0; i < 8; i++) {
        one_d(100 + i, marked);
        two_d(60 + i, marked);
        three_d(30 + i, marked);
    }
    scrub();
    return 0;
}
