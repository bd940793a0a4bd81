// Hard case 22: what sized and aligned forms of release say of a block is compared with what it was; the
// forms of C23, which a libc may lack, too. realloc(p, 0) is a release like any other.
// NEEDS: /usr/bin/python3
// CFLAGS: -O0 -g -fno-builtin -fsized-deallocation
// CFLAGS: -O2 -g -fno-builtin -fno-optimize-sibling-calls -fsized-deallocation
// JSON: set(wrong) == {("size-mismatch", "make", f) for f in ["size", "array_size"]} | {("size-mismatch", "make_aligned", f) for f in ["aligned_size", "aligned_array_size"]} | {("alignment-mismatch", "make_aligned", f) for f in ["alignment", "array_alignment", "sized_alignment"]} | {("size-mismatch", "make_derived", "of_base"), ("size-mismatch", "make_c", "c_size"), ("size-mismatch", "make_c_aligned", "c_aligned_size"), ("alignment-mismatch", "make_c_aligned", "c_alignment"), ("mismatched-free", "make_c_aligned", "c_not_aligned"), ("mismatched-free", "make_c", "c_too_aligned"), ("bad-realloc", "make", "to_nothing"), ("alignment-mismatch", "make_far", "far_alignment")}
// JSON: set(wrong.values()) == {1} and named() and p.coverage.unknown_frees == 0
// JSON: [e.size for e in misuse(p) if culprit(e).line == line("of base")] == [32]
// EXPECT: size-mismatch: sized delete says 16 bytes of 32 bytes of new$
// EXPECT: alignment-mismatch: aligned delete says that 64 bytes of aligned new are aligned to 32, not to 64$
// RUN: %leak %t; s=$?; %report --top=0 store/*.leak; exit $s

#include <cstdlib>
#include <malloc.h>
#include <new>

#define FAR __attribute__((noinline))
typedef std::align_val_t al;
extern "C" {
void free_sized(void *, size_t) __attribute__((weak));
void free_aligned_sized(void *, size_t, size_t) __attribute__((weak));
}

FAR void *make(bool array) { return array ? operator new[](48) : operator new(48); }
FAR void *make_aligned(bool array) { return array ? operator new[](64, al(64)) : operator new(64, al(64)); }
FAR void *make_far() { return operator new(64, al(1 << 20)); }
FAR void *make_c() { return malloc(40); }
FAR void *make_c_aligned() { return aligned_alloc(64, 128); }

struct Base { char c[16]; ~Base() { c[0] = 0; } };
struct Derived : Base { char more[16]; };
FAR Base *make_derived() { return new Derived; }

FAR void size(void *p) { operator delete(p, (std::size_t)40); }
FAR void array_size(void *p) { operator delete[](p, (std::size_t)49); }
FAR void aligned_size(void *p) { operator delete(p, (std::size_t)63, al(64)); }
FAR void aligned_array_size(void *p) { operator delete[](p, (std::size_t)0, al(64)); }
FAR void alignment(void *p) { operator delete(p, al(32)); }
FAR void array_alignment(void *p) { operator delete[](p, al(128)); }
FAR void sized_alignment(void *p) { operator delete(p, (std::size_t)64, al(4096)); }
FAR void far_alignment(void *p) { operator delete(p, al(1ul << 44)); }
FAR void of_base(Base *p) { delete p; } // of base
FAR void c_size(void *p) { free_sized(p, 41); }
FAR void c_aligned_size(void *p) { free_aligned_sized(p, 64, 64); }
FAR void c_alignment(void *p) { free_aligned_sized(p, 24, 128); }
FAR void c_not_aligned(void *p) { free_sized(p, 128); }
FAR void c_too_aligned(void *p) { free_aligned_sized(p, 16, 40); }
FAR void to_nothing(void *p) { void *volatile gone = realloc(p, 0); (void)gone; }

FAR void right()
{
    operator delete(make(false), (std::size_t)48);
    operator delete[](make(true), (std::size_t)48);
    operator delete(make_aligned(false), (std::size_t)64, al(64));
    operator delete[](make_aligned(true), (std::size_t)64, al(64));
    operator delete(make_aligned(false), al(64));
    operator delete(make_far(), al(1 << 20)); /* beyond what is kept: a multiple is all that is known */
    delete new Derived;
    delete[] new Base[3];
    struct alignas(128) Wide { char c[300]; ~Wide() { c[0] = 0; } };
    delete new Wide;
    delete[] new Wide[3];
    free_sized(make_c(), 40);
    free_aligned_sized(make_c_aligned(), 64, 128);
    free(make_c_aligned());
    void *volatile gone = realloc(make_c(), 0);
    (void)gone;
}

int main()
{
    right();
    size(make(false));
    array_size(make(true));
    aligned_size(make_aligned(false));
    aligned_array_size(make_aligned(true));
    alignment(make_aligned(false));
    array_alignment(make_aligned(true));
    sized_alignment(make_aligned(false));
    far_alignment(make_far());
    of_base(make_derived());
    c_size(make_c());
    c_aligned_size(make_c_aligned());
    c_alignment(make_c_aligned());
    c_not_aligned(make_c_aligned());
    c_too_aligned(make_c());
    to_nothing(make(false));
    right();
}
