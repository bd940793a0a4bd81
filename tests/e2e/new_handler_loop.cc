// operator new out of memory: the handler loop, bad_alloc, null from nothrow, exactly as libstdc++ has it.
// What the handler allocates is tracked: our guard is not held while it runs.
// BUILD: gcc -w -O1 -shared -fPIC -o %d/libtight.so %S/lib/tight.c
// RUN: env LD_PRELOAD=%d/libtight.so %t >want && cat want && env "LD_PRELOAD=%O/libleak.so %d/libtight.so" "LIBLEAK_OPTIONS=dir=%d/store" %t >got; s=$?; diff want got && exit $s
// EXPECT: handler freed memory: ok after 3 calls
// EXPECT: handler threw 42
// EXPECT: no handler: bad_alloc
// EXPECT: nothrow: null, handler called 2 times
// EXPECT: huge: bad_alloc
// EXPECT: huge array: bad_alloc
// EXPECT: huge nothrow: null
// EXPECT: aligned: bad_alloc
// JSON: of("in_handler").blocks == 1
// JSON: of("after_all").blocks == 1

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <new>

void *volatile sink;
int calls;
void (*tight)(int);

__attribute__((noinline)) void in_handler() { sink = malloc(33); }
void frees() { if (++calls == 3) { tight(0); in_handler(); } }
void throws() { throw 42; }
void gives_up() { if (++calls == 2) std::set_new_handler(nullptr); }

__attribute__((noinline)) void after_all() { sink = operator new(77); }

int main()
{
    *(void **)&tight = dlsym(RTLD_DEFAULT, "tight");
    std::set_new_handler(frees);
    tight(1);
    void *p = operator new(1000);
    printf("handler freed memory: %s after %d calls\n", p ? "ok" : "null", calls);
    operator delete(p);

    std::set_new_handler(throws);
    tight(1);
    try { sink = operator new(1000); puts("?"); } catch (int e) { tight(0); printf("handler threw %d\n", e); }

    std::set_new_handler(nullptr);
    tight(1);
    try { sink = operator new(1000); puts("?"); } catch (std::bad_alloc &) { tight(0); puts("no handler: bad_alloc"); }

    calls = 0;
    std::set_new_handler(gives_up);
    tight(1);
    p = operator new(1000, std::nothrow);
    tight(0);
    printf("nothrow: %s, handler called %d times\n", p ? "?" : "null", calls);

    volatile size_t huge = (size_t)PTRDIFF_MAX - 64;
    try { sink = operator new(huge); puts("?"); } catch (std::bad_alloc &) { puts("huge: bad_alloc"); }
    try { sink = operator new[](huge); puts("?"); } catch (std::bad_alloc &) { puts("huge array: bad_alloc"); }
    printf("huge nothrow: %s\n", operator new(huge, std::nothrow) ? "?" : "null");
    try { sink = operator new(huge, std::align_val_t(64)); puts("?"); } catch (std::bad_alloc &) { puts("aligned: bad_alloc"); }
    after_all();
}
