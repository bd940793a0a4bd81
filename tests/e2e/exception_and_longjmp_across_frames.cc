// Hard case 27: an exception and a longjmp across 50 frames, then allocate again: the new stacks hold
// no frame of the abandoned ones.
// CFLAGS: -O2 -g -fno-builtin
// CFLAGS: -O0 -g
// EXPECT: caught 200, jumped 200
// JSON: of("after_throw").blocks == 200 and at("after_throw").line == line("after throw")
// JSON: of("after_jump").blocks == 200 and at("after_jump").line == line("after jump")
// JSON: of("thrower").blocks == 200 and of("jumper").blocks == 200
// JSON: all(len([f for f in r.frames if bare(f.function) == "thrower"]) >= 50 for r in hits("thrower"))
// JSON: not any(bare(f.function) in ("thrower", "jumper") for n in ("after_throw", "after_jump") for r in hits(n) for f in r.frames)
// JSON: all(bare(r.frames[-1].function) in ("_start", "__libc_start_main", "__libc_start_call_main", "main") for r in hits("main"))

#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#define FAR __attribute__((noinline))
void *volatile sink;
static jmp_buf back;

FAR int thrower(int n)
{
    if (n == 0) {
        sink = malloc(20);
        throw std::runtime_error("far");
    }
    int r = thrower(n - 1);
    sink = nullptr;
    return r + 1;
}

FAR int jumper(int n)
{
    if (n == 0) {
        sink = malloc(21);
        longjmp(back, 1);
    }
    int r = jumper(n - 1);
    sink = nullptr;
    return r + 1;
}

FAR void after_throw()
{
    sink = malloc(22); // after throw
    sink = nullptr;
}

FAR void after_jump()
{
    sink = malloc(23); // after jump
    sink = nullptr;
}

int main()
{
    static int caught, jumped;

    for (int i = 0; i < 200; i++) {
        try { thrower(50); } catch (std::exception &) { caught++; }
        after_throw();
        if (!setjmp(back))
            jumper(50);
        else
            jumped++;
        after_jump();
    }
    printf("caught %d, jumped %d\n", caught, jumped);
}
