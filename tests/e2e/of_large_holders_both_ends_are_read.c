// A freed block of some KiB names what it owned in its first and its last words, not in the middle; one of 100 KiB, a
// pool, names nothing.
// CFLAGS: -O1 -g -fno-builtin -fno-optimize-sibling-calls
// RUN: %leak %t
// JSON: [f.function for f in hits("make_first")[0].holder_freed.frames if f.user] == ["drop"]
// JSON: [f.function for f in hits("make_last")[0].holder_freed.frames if f.user] == ["drop"]
// JSON: [f.function for f in hits("make_first")[0].holder_freed.holder] == ["make_large"]
// JSON: hits("make_middle")[0].verdict == "lost" and hits("make_middle")[0].holder_freed is None
// JSON: hits("make_pooled")[0].verdict == "lost" and hits("make_pooled")[0].holder_freed is None

#include <stdlib.h>
#include <string.h>

#define FAR __attribute__((noinline))

struct large {
    char *first;
    char before[2000];
    char *middle;
    char behind[2000];
    char *last;
};
struct pool {
    char *first;
    char room[100000];
};

FAR char *make_first(void)
{
    return malloc(40);
}
FAR char *make_middle(void)
{
    return malloc(41);
}
FAR char *make_last(void)
{
    return malloc(42);
}
FAR char *make_pooled(void)
{
    return malloc(43);
}
FAR struct large *make_large(void)
{
    struct large *large = malloc(sizeof *large);
    memset(large, 0, sizeof *large);
    large->first = make_first();
    large->middle = make_middle();
    large->last = make_last();
    return large;
}
FAR struct pool *make_pool(void)
{
    struct pool *pool = malloc(sizeof *pool);
    memset(pool, 0, sizeof *pool);
    pool->first = make_pooled();
    return pool;
}
FAR void drop(void *block)
{
    free(block);
}

int main(void)
{
    for (int i = 0; i < 10; i++) {
        drop(make_large());
        drop(make_pool());
    }
    return 0;
}
