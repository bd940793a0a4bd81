// Multiple and virtual inheritance; pointers to a second base do not point to the beginning.
#include <cstdio>
#include "keep.h"

struct Named {
    virtual ~Named() {}
    char name[16] = "name";
};

struct Counted {
    virtual ~Counted() {}
    virtual int count() { return references; }
    int references = 1;
};

struct Both : Named, Counted {
    int count() override { return references + own; }
    int own = 2;
};

struct Top {
    virtual ~Top() {}
    long top = 1;
};

struct Left : virtual Top {
    long left = 2;
};

struct Right : virtual Top {
    long right = 3;
};

struct Bottom : Left, Right {
    long bottom = 4;
};

__attribute__((noinline)) static Counted *both_new()
{
    return new Both; // TYPE Both
}

__attribute__((noinline)) static Top *bottom_new()
{
    return new Bottom; // TYPE Bottom
}

__attribute__((noinline)) static Left *left_new()
{
    return new Left; // TYPE Left
}

int main()
{
    long sum = 0;

    for (int i = 0; i < 10; i++) {
        Counted *counted = both_new();
        Top *top = bottom_new();

        sum += counted->count() + top->top;
        keep(counted);
        keep(top);
        keep(left_new());
    }
    std::printf("%ld\n", sum);
}
