/* A plugin with 18 leaks: leak_1 to leak_18, each by another call; leak_N stands on line 20 + N and its block
 * has at least N bytes. all_leaks makes one of each, no_leaks frees what the same calls give.
 */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cwchar>
#include <dlfcn.h>
#include <malloc.h>
#include <new>

#define FAR __attribute__((noinline))
#define LEAK(n, call) FAR static void *leak_##n() { void *volatile p = (call); return p; }

static void *volatile sink;
static void *found(size_t n) { return ((void *(*)(size_t))dlsym(RTLD_DEFAULT, "malloc"))(n); }
static void *aligned(size_t n) { void *p; return posix_memalign(&p, 64, n) ? NULL : p; }
static void *printed() { char *p; return asprintf(&p, "%s", "eleven, and more") < 0 ? NULL : p; }
struct object { char bytes[14]; object() { bytes[0] = 1; } };

LEAK(1, malloc(1))
LEAK(2, calloc(1, 2))
LEAK(3, realloc(NULL, 3))
LEAK(4, realloc(malloc(1), 4))
LEAK(5, reallocarray(NULL, 5, 1))
LEAK(6, strdup("6 long"))
LEAK(7, strndup("7 longer than that", 7))
LEAK(8, wcsdup(L"8"))
LEAK(9, found(9))
LEAK(10, aligned(10))
LEAK(11, printed())
LEAK(12, aligned_alloc(64, 64))
LEAK(13, memalign(32, 13))
LEAK(14, new object)
LEAK(15, new char[15])
LEAK(16, operator new(16))
LEAK(17, new (std::nothrow) char[17])
LEAK(18, operator new(18, std::align_val_t(64)))

static void *(*const leaks[])() = {leak_1,  leak_2,  leak_3,  leak_4,  leak_5,  leak_6,
                                   leak_7,  leak_8,  leak_9,  leak_10, leak_11, leak_12,
                                   leak_13, leak_14, leak_15, leak_16, leak_17, leak_18};

extern "C" FAR void all_leaks()
{
    for (int i = 0; i < 18; i++)
        sink = leaks[i]();
    sink = NULL;
}

extern "C" FAR void no_leaks()
{
    for (int i = 0; i < 13; i++)
        free(leaks[i]());
    delete (object *)leaks[13]();
    delete[] (char *)leaks[14]();
    operator delete(leaks[15]());
    operator delete[](leaks[16](), std::nothrow);
    operator delete(leaks[17](), std::align_val_t(64));
}
