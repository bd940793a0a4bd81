// Other blocks were freed below a function: it has a mark if it frees them itself, or calls what its name says frees.
// It has none if it hands the blocks on to a function that keeps some and forgets others, if blocks of other stacks are
// allocated and freed apart from it, or if it replaces its block by a larger one.
// CFLAGS: -O0 -g -fno-builtin
// RUN: %leak %t; %report --top=0 store/*.leak
// EXPECT: ^   > forget_some
// EXPECT: ^   > returns_early
// EXPECT: ^   > keep_or_hand
// REFUSE: ^   > (hand_on|dispatch|list_grow|main)
// JSON: [f.function for f in hits("hand_on")[0].freed_common] == ["hand_on"]

#include <stdlib.h>

#define FAR __attribute__((noinline))

FAR void node_destroy(void *it)
{
    free(it);
}
FAR void forget_some(int forget)
{
    void *it = malloc(40);
    if (!forget)
        node_destroy(it);
}

FAR void returns_early(int early)
{
    void *it = malloc(50);
    if (!early)
        free(it);
}

FAR void execute(void *it, int forget)
{
    if (!forget)
        free(it);
}
FAR void hand_on(int forget)
{
    execute(malloc(60), forget);
}

/* Other blocks of the line that makes them reach execute() from the function that lost one. */
FAR void *make(void)
{
    return malloc(70);
}
FAR void *through(void)
{
    return make();
}
FAR void keep_or_hand(int keep)
{
    if (keep)
        through();
    else
        execute(make(), 0);
}

/* list_all() makes and frees its own; dispatch() has no part in that. */
FAR void *text(void)
{
    return malloc(80);
}
FAR void list_all(void)
{
    execute(text(), 0);
}
FAR void print(void)
{
    text();
}
FAR void dispatch(int command)
{
    if (command)
        list_all();
    else
        print();
}

struct list {
    char *text;
    size_t length;
};
FAR void list_grow(struct list *list, size_t length)
{
    char *longer = malloc(length);
    free(list->text);
    list->text = longer;
}
FAR void fill(size_t times)
{
    struct list list = {0};
    for (size_t i = 1; i <= times; i++)
        list_grow(&list, i * 90);
}

int main(void)
{
    for (int i = 0; i < 4; i++) {
        forget_some(i == 1);
        returns_early(i == 1);
        hand_on(i == 1);
        keep_or_hand(i == 1);
        dispatch(i != 1);
    }
    fill(5);
    return 0;
}
