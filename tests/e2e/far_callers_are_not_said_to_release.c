// A main loop calls all of a program: that others are freed below it, too, or that it opens others which are closed,
// tells nothing. A caller nearby is told, also that of descriptors; one that is close has a mark, and so has the reason.
// CFLAGS: -O0 -g -fno-builtin
// RUN: %leak %t; %report store/*.leak
// EXPECT: ^   > others are freed in drop,$
// EXPECT: ^   > near_by
// EXPECT: ^ +called by near_by at .*\(sampled from 20 frees\)$
// EXPECT: ^     others are freed in give_back,$
// EXPECT: ^ +called by let_go at .*\(sampled from 20 frees\)$
// EXPECT: ^ +others that open_near\(\) opens are closed in close_all( at .*)?$
// REFUSE: ^   > (main_loop|make|far_)
// REFUSE: called by main_loop
// REFUSE: others that main_loop
// JSON: [f.function for f in hits("near_by")[0].freed_common] == ["near_by"]
// JSON: "freed_common" not in hits("make_far")[0]
// JSON: {r.name: [f.function for f in r.others_released_in or []] for r in p.resources if r.type == "fd"} == {"/dev/null": ["close_all"], "/dev/zero": []}

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#define FAR __attribute__((noinline))

FAR void *make(int size)
{
    return malloc(size);
}
FAR void drop(void *it)
{
    free(it);
}

FAR void near_by(int forget)
{
    void *it = make(40);
    if (!forget)
        drop(it);
}

FAR void *make_far(void)
{
    return malloc(70);
}
FAR void *far_9(void)
{
    return make_far();
}
FAR void *far_8(void)
{
    return far_9();
}
FAR void *far_7(void)
{
    return far_8();
}
FAR void *far_6(void)
{
    return far_7();
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
FAR void give_back(void *it)
{
    free(it);
}
FAR void let_go(void *it)
{
    give_back(it);
}
FAR void clean(void *it)
{
    let_go(it);
}

FAR int open_one(const char *name)
{
    return open(name, O_RDONLY);
}
FAR int open_other(void)
{
    return open("/dev/full", O_RDONLY);
}
FAR void close_all(int fd)
{
    close(fd);
}
FAR int open_near(void)
{
    open_one("/dev/null");
    return open_other();
}

FAR int zero_4(void)
{
    return open("/dev/zero", O_RDONLY);
}
FAR int zero_3(void)
{
    return zero_4();
}
FAR int zero_2(void)
{
    return zero_3();
}
FAR int zero_1(void)
{
    return zero_2();
}

FAR void main_loop(void)
{
    for (int i = 0; i < 22; i++) {
        void *it = far_1();

        near_by(i < 2);
        if (i >= 2)
            clean(it);
    }
    zero_1();
    close_all(open_near());
}

int main(void)
{
    main_loop();
    return 0;
}
