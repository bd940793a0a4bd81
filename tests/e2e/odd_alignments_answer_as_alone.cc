// An alignment that is no power of two gets the answer that it gets alone: operator new gives no block (bad_alloc, or
// NULL, without a call of the new handler), posix_memalign says EINVAL, and libc rounds the rest up. The same with
// enabled=0, with a sample, and in a program that calls the forms for arrays.
// RUN: %t >want; for o in depth=16 enabled=0 sample=4096 quarantine=1M; do LIBLEAK_OPTIONS=$o %leak %t >got; diff want got || exit 1; done; cat got
// EXPECT: ^new 48: nothrow null, throwing bad_alloc, handler 0$
// EXPECT: ^new 64: nothrow block, throwing block, handler 0$
// EXPECT: ^posix_memalign 24: 22$
// JSON: all(not q.errors and q.coverage.unknown_frees == 0 for q in procs)

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <malloc.h>
#include <new>

static int handled;

static const char *answer(void *p, size_t alignment)
{
    return !p ? "null" : alignment && (size_t)p % (alignment & -alignment) ? "misaligned" : "block";
}

template <bool array> static void try_new(const char *name, size_t number)
{
    std::align_val_t to{number};
    const char *thrown = "block";
    void *q = nullptr, *p = array ? ::operator new[](32, to, std::nothrow) : ::operator new(32, to, std::nothrow);

    try {
        q = array ? ::operator new[](32, to) : ::operator new(32, to);
    } catch (const std::bad_alloc &) {
        thrown = "bad_alloc";
    }
    printf("%s %zu: nothrow %s, throwing %s, handler %d\n", name, number, answer(p, number), thrown, handled);
    array ? ::operator delete[](p, to, std::nothrow) : ::operator delete(p, to, std::nothrow);
    array ? ::operator delete[](q, to) : ::operator delete(q, to);
}

static void try_libc(const char *name, void *p, size_t alignment)
{
    printf("%s %zu: %s %d\n", name, alignment, answer(p, alignment), errno);
    free(p);
    errno = 0;
}

static void handle()
{
    if (++handled > 3)
        throw std::bad_alloc();
}

int main()
{
    const size_t odd[] = {0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 24, 31, 48, 63, 64, 65, 4095, 4096, 4097, 12288};

    for (int round = 0; round < 2; round++) {
        for (size_t number : odd) {
            void *p = (void *)8;
            try_new<false>("new", number);
            try_new<true>("new[]", number);
            try_libc("aligned_alloc", aligned_alloc(number, 100), number);
            try_libc("memalign", memalign(number, 100), number);
            int error = posix_memalign(&p, number, 100);
            printf("posix_memalign %zu: %d\n", number, error);
            error ? (void)(p == (void *)8 || puts("changed")) : free(p);
        }
        for (size_t number : {(size_t)-1, (size_t)1 << 63, ((size_t)1 << 63) + 1, ((size_t)1 << 62) + 8}) {
            try_libc("aligned_alloc", aligned_alloc(number, 100), number);
            try_libc("memalign", memalign(number, 100), number);
        }
        for (size_t size : {(size_t)0, (size_t)1, (size_t)4095, (size_t)4097, (size_t)-1}) {
            try_libc("valloc", valloc(size), 4096);
            try_libc("pvalloc", pvalloc(size), 4096);
        }
        std::set_new_handler(handle);
    }
    return 0;
}
