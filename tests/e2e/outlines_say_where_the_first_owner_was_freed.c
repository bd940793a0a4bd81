// The lines that name each record of a longer report push the end of the first record off the screen: what decides, where
// its owner was freed or which function is marked, has a line among them. A record without either has none.
// CFLAGS: -O0 -g -fno-builtin
// RUN: for how in owner marked alone; do %run %t $how 2>&1 >/dev/null | sed -n '/^In short/,/^$/p' | sed "s/^/$how: /"; done
// EXPECT: ^owner: +its owner was freed in drop_owner( |$)
// EXPECT: ^marked:    > others are freed in forget_some( |$)
// EXPECT: ^alone:    6\.
// REFUSE: ^alone: .*freed in
// REFUSE: ^owner: .*others are
#include <stdlib.h>
#include <string.h>

#define FAR __attribute__((noinline))

struct owner {
    char filler[40], *text;
};

FAR void *zeroed(size_t size)
{
    return memset(malloc(size), 0, size);
}
FAR struct owner *make_owner(void)
{
    struct owner *owner = zeroed(sizeof(*owner));
    owner->text = zeroed(900);
    return owner;
}
FAR void drop_owner(struct owner *owner)
{
    free(owner); /* not its text */
}
FAR void forget_some(int forget)
{
    char *own = malloc(900);
    memset(own, 1, 900);
    if (!forget)
        free(own);
}

#define LOSE(name)                                                                                 \
    FAR void name(size_t size)                                                                     \
    {                                                                                              \
        memset(malloc(size), 1, size);                                                             \
    }
LOSE(one)
LOSE(two)
LOSE(three)
LOSE(four)
LOSE(five)
LOSE(six)

FAR void scrub(void)
{
    volatile char stack[4096] = {0};
    (void)stack;
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "alone";

    for (int i = 0; i < 4; i++)
        if (strcmp(how, "owner") == 0)
            drop_owner(make_owner());
        else if (strcmp(how, "marked") == 0)
            forget_some(i % 2);
    one(50);
    two(40);
    three(30);
    four(20);
    five(10);
    six(5);
    scrub();
    return 0;
}
