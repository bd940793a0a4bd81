// Records with the same inner frames show the first frame in which they differ, however far out it is; a gap is
// marked, also in an entry of several stacks. Records that nobody shares frames with show no more than before.
// CFLAGS: -O0 -g -fno-optimize-sibling-calls
// RUN: %run %t 2>&1 >/dev/null
// EXPECT: ^ +stream_file +.*:[0-9]+$
// EXPECT: ^ +setup +.*:[0-9]+$
// EXPECT: ^ +\.\.\.$
// EXPECT: ^ +open_right +.*:[0-9]+$
// EXPECT: ^ +and 300 bytes in 1 block called by open_left\(\) at .*:[0-9]+$
// REFUSE: ^ +(l[89]|alone_caller) +
#include <stdlib.h>
#define FAR __attribute__((noinline))

void *volatile sink;

FAR char *make_pattern(int size)
{
    char *made = malloc((size_t)size);
    made[0] = 1;
    return made;
}
FAR void *compile(int size)
{
    void **all = (void **)make_pattern(size);
    all[1] = make_pattern(40);
    return all;
}
FAR void stream_file(void) { sink = compile(64); }
FAR void setup(void) { sink = compile(64); }

FAR void *l1(int size) { return malloc((size_t)size); }
FAR void *l2(int size) { return l1(size); }
FAR void *l3(int size) { return l2(size); }
FAR void *l4(int size) { return l3(size); }
FAR void *l5(int size) { return l4(size); }
FAR void *l6(int size) { return l5(size); }
FAR void *l7(int size) { return l6(size); }
FAR void *l8(int size) { return l7(size); }
FAR void *l9(int size) { return l8(size); }
FAR void open_left(void) { sink = l9(300); }
FAR void open_right(void) { sink = l9(400); }

FAR void *alone(void) { return malloc(500); }
FAR void *alone_2(void) { return alone(); }
FAR void *alone_3(void) { return alone_2(); }
FAR void *alone_4(void) { return alone_3(); }
FAR void *alone_5(void) { return alone_4(); }
FAR void alone_caller(void) { sink = alone_5(); }

FAR void scrub(void)
{
    volatile char stack[4096] = {0};
    (void)stack;
}

int main(void)
{
    setup();
    for (int i = 0; i < 3; i++)
        stream_file();
    free(((void **)sink)[1]);
    free(sink); /* so these are no entry */
    open_left();
    open_right();
    alone_caller();
    sink = NULL;
    scrub();
    return 0;
}
