// Where objects have destructors, delete of a new[] block gives a pointer behind the cookie and delete[] of a new
// block one before it: told as what they are, with the block. Objects without destructors have no cookie.
// CFLAGS: -O0 -g
// CFLAGS: -O2 -g -fno-optimize-sibling-calls
// RUN: for n in 1 2 3 4 5; do (%leak %t $n 2>/dev/null); %report --top=0 $(ls -t store/*.leak | head -n1); done; :
// EXPECT: interior-free: sized delete at 8 bytes inside of 80 bytes of new\[\]$
// EXPECT: probably delete on a block of new\[\]
// EXPECT: mismatched-free: 24 bytes of new released by sized delete\[\], 8 bytes before it$
// EXPECT: probably delete\[\] on a block of new
// EXPECT: interior-free: sized aligned delete at 64 bytes inside of 256 bytes of aligned new\[\]$
// JSON: [[(e.type, e.offset) for e in misuse(q)] for q in procs] == [[("interior-free", 8)], [("mismatched-free", -8)], [("mismatched-free", 0)], [("interior-free", 64)], []]
// JSON: all(named(q) for q in procs) and {culprit(e.allocated).function.split("(")[0] for q in procs for e in misuse(q)} == {"make_many", "make_one", "make_plain", "make_wide"}

#include <cstdlib>
#include <new>

#define FAR __attribute__((noinline))
void *volatile sink;
struct Thing { long count; char c[16]; Thing() : count(0) {} ~Thing() { sink = this; } };
struct Plain { char c[8]; };
struct alignas(64) Wide { char c[64]; ~Wide() { sink = this; } };

FAR Thing *make_many() { return new Thing[3]; }
FAR Thing *make_one() { return new Thing; }
FAR Plain *make_plain() { return new Plain[3]; }
FAR Wide *make_wide() { return new Wide[3]; }
FAR void one(Thing *p) { delete p; }
FAR void many(Thing *p) { delete[] p; }

int main(int, char **argv)
{
    switch (atoi(argv[1])) {
    case 1: one(make_many()); break;
    case 2: { /* what stands before a block is libc's size of it: no number of objects to loop over */
        Thing *p = make_one();
        operator delete[]((char *)p - 8, sizeof(Thing) + 8);
        break;
    }
    case 3: delete make_plain(); break;
    case 4: delete make_wide(); break;
    case 5: one(make_one()); many(make_many()); delete[] make_plain(); delete[] make_wide(); break;
    }
}
