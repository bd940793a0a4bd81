// Where no block of a line is ever freed it is said who frees what the same function allocates in others. Not
// where that is the function itself, nor where such blocks are freed somewhere.
// CFLAGS: -O1 -g -fno-builtin -fno-optimize-sibling-calls
// RUN: %leak %t; %report store/*.leak
// EXPECT: ^ +other allocations of the same function are freed in drop_tag,( called by main at .*)?$
// REFUSE: beside it is freed in (here_and_there|drop_some)
// JSON: [(f.function, f.line) for f in hits("make_tag")[0].freed_beside if f.user] == [("drop_tag", line("here"))]
// JSON: hits("make_tag")[0].freed_elsewhere is None and hits("make_tag")[0].freed_blocks == 0
// JSON: hits("here_and_there")[0].verdict == "lost" and hits("here_and_there")[0].freed_beside is None
// JSON: hits("make_some")[0].verdict == "lost" and hits("make_some")[0].freed_beside is None
// JSON: [f.function for f in hits("make_some")[0].freed_elsewhere if f.user] == ["drop_some"]

#include <stdlib.h>

#define FAR __attribute__((noinline))

struct tag {
    char *handle, *prefix;
};

FAR void make_tag(struct tag *tag)
{
    tag->handle = malloc(20);
    tag->prefix = malloc(30);
}
FAR void drop_tag(struct tag *tag)
{
    free(tag->handle); // here
    tag->handle = tag->prefix = NULL;
}

FAR void here_and_there(void)
{
    char *volatile first = malloc(40), *volatile second;
    second = malloc(50);
    free(first);
    first = second = NULL;
}

FAR void make_some(struct tag *tag)
{
    tag->handle = malloc(60);
    tag->prefix = malloc(70);
}
FAR void drop_some(struct tag *tag, int all)
{
    free(tag->handle);
    if (all)
        free(tag->prefix);
    tag->handle = tag->prefix = NULL;
}

int main(void)
{
    static struct tag tag;

    for (int i = 0; i < 10; i++) {
        make_tag(&tag);
        drop_tag(&tag);
        here_and_there();
        make_some(&tag);
        drop_some(&tag, i % 2 == 0);
    }
    return 0;
}
