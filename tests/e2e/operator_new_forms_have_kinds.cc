// Each replaceable form of operator new and delete: counted, its own kind, exact bytes.
// CFLAGS: -O2 -g -fno-builtin -fsized-deallocation
// CFLAGS: -O0 -g -fsized-deallocation
// RUN: %leak %t 2
// RUN: %leak %t 0
// JSON: (of("leak_new").blocks, of("leak_new").bytes, of("leak_new").kinds) == (2, 20, ["new"])
// JSON: (of("leak_new_array").blocks, of("leak_new_array").bytes, of("leak_new_array").kinds) == (2, 22, ["new[]"])
// JSON: (of("leak_new_nothrow").blocks, of("leak_new_nothrow").bytes, of("leak_new_nothrow").kinds) == (2, 24, ["new"])
// JSON: (of("leak_new_array_nothrow").blocks, of("leak_new_array_nothrow").bytes, of("leak_new_array_nothrow").kinds) == (2, 26, ["new[]"])
// JSON: (of("leak_aligned").blocks, of("leak_aligned").bytes, of("leak_aligned").kinds) == (2, 256, ["aligned new"])
// JSON: (of("leak_aligned_array").blocks, of("leak_aligned_array").bytes, of("leak_aligned_array").kinds) == (2, 512, ["aligned new[]"])
// JSON: (of("leak_aligned_nothrow").blocks, of("leak_aligned_nothrow").bytes, of("leak_aligned_nothrow").kinds) == (2, 768, ["aligned new"])
// JSON: (of("leak_aligned_array_nothrow").blocks, of("leak_aligned_array_nothrow").bytes, of("leak_aligned_array_nothrow").kinds) == (2, 1024, ["aligned new[]"])
// JSON: (of("leak_expression").blocks, of("leak_expression").bytes, of("leak_expression").kinds) == (2, 2 * 48, ["new"])
// JSON: (of("leak_expression_array").blocks, of("leak_expression_array").bytes, of("leak_expression_array").kinds) == (2, 2 * (8 + 3 * 48), ["new[]"])
// JSON: of("freed").blocks == 0
// JSON: p.totals.allocations - procs[1].totals.allocations == 2 * (10 + 16)
// JSON: p.totals.frees - procs[1].totals.frees == 2 * 16
// JSON: p.coverage.unknown_frees == 0 and p.errors == []

#include <cstdio>
#include <cstdlib>
#include <cstdint>
#include <new>

#define FAR __attribute__((noinline))
void *volatile sink;
struct Thing { char data[48]; Thing() { data[0] = 1; } ~Thing() { sink = this; } };
typedef std::align_val_t al;
const std::nothrow_t &nt = std::nothrow;

FAR void leak_new() { sink = operator new(10); }
FAR void leak_new_array() { sink = operator new[](11); }
FAR void leak_new_nothrow() { sink = operator new(12, nt); }
FAR void leak_new_array_nothrow() { sink = operator new[](13, nt); }
FAR void leak_aligned() { sink = operator new(128, al(64)); }
FAR void leak_aligned_array() { sink = operator new[](256, al(64)); }
FAR void leak_aligned_nothrow() { sink = operator new(384, al(128), nt); }
FAR void leak_aligned_array_nothrow() { sink = operator new[](512, al(128), nt); }
FAR void leak_expression() { sink = new Thing; }
FAR void leak_expression_array() { sink = new Thing[3]; }

/* Every one of the 12 forms of delete, and the four expressions. */
FAR void freed()
{
    operator delete(operator new(10));
    operator delete(operator new(10), std::size_t(10));
    operator delete(operator new(10, nt), nt);
    operator delete[](operator new[](10));
    operator delete[](operator new[](10), std::size_t(10));
    operator delete[](operator new[](10, nt), nt);
    operator delete(operator new(64, al(64)), al(64));
    operator delete(operator new(64, al(64)), std::size_t(64), al(64));
    operator delete(operator new(64, al(64), nt), al(64), nt);
    operator delete[](operator new[](64, al(64)), al(64));
    operator delete[](operator new[](64, al(64)), std::size_t(64), al(64));
    operator delete[](operator new[](64, al(64), nt), al(64), nt);
    delete new Thing;
    delete[] new Thing[3];
    struct alignas(256) Wide { char c[256]; };
    Wide *w = new Wide;
    sink = w;
    if ((uintptr_t)w % 256) abort();
    delete w;
    w = new Wide[2];
    sink = w;
    delete[] w;
    delete (Thing *)nullptr;
}

int main(int, char **argv)
{
    for (int n = atoi(argv[1]); n > 0; n--) {
        leak_new(); leak_new_array(); leak_new_nothrow(); leak_new_array_nothrow();
        leak_aligned(); leak_aligned_array(); leak_aligned_nothrow(); leak_aligned_array_nothrow();
        leak_expression(); leak_expression_array();
        freed();
    }
}
