// The same mistake a hundred thousand times, in one thread and in four at once, is one record that counts
// exactly; of more kinds than the table holds the rest is counted and said. Each is its exit status.
// CFLAGS: -O1 -g -fno-builtin
// RUN: %leak %t loop; %leak %t threads; (LIBLEAK_OPTIONS=depth=1024; %leak %t many); %run --error-exitcode=7 -q %t loop; echo "loop: $?"; %run --error-exitcode=7 --errors-for=lost -q %t loop; echo "not asked: $?"; %run --error-exitcode=7 -q %t right; echo "right: $?"; %report store/*.leak
// EXPECT: ^loop: 7$
// EXPECT: ^not asked: 0$
// EXPECT: ^right: 0$
// EXPECT: errors=1 resources=0$
// EXPECT: ^1. mismatched-free: 40 bytes of new\[\] released by free \(100,000 times\)$
// EXPECT: ^Note: 46 wrong releases of other kinds were only counted: the list of errors holds 254\.$
// EXPECT: ^254 errors in freeing memory \(1 cause\):$
// EXPECT: ^ +and 253 times called by deep
// JSON: wrong == {("mismatched-free", "make", "release"): 100000} and len(misuse(p)) == 1
// JSON: wrongs(procs[1]) == {("mismatched-free", "make", "release"): 100000} and len(misuse(procs[1])) == 1
// JSON: len(misuse(procs[2])) == 254 and sum(wrongs(procs[2]).values()) == 254
// JSON: p.coverage.unknown_frees == 0 and all(named(q) for q in procs[:2])

#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#define FAR __attribute__((noinline))

FAR char *make() { char *p = new char[40]; asm("" : "+r"(p)); return p; }
FAR void release(char *p) { free(p); asm(""); }

FAR void loop(int n)
{
    while (n--)
        release(make());
}

FAR void deep(int n)
{
    if (n)
        deep(n - 1);
    else
        release(make());
    asm("");
}

int main(int, char **argv)
{
    if (!strcmp(argv[1], "loop"))
        loop(100000);
    if (!strcmp(argv[1], "threads")) {
        std::vector<std::thread> threads;
        for (int i = 0; i < 4; i++)
            threads.emplace_back(loop, 25000);
        for (auto &t : threads)
            t.join();
    }
    if (!strcmp(argv[1], "many"))
        for (int i = 1; i <= 300; i++)
            deep(i);
    if (!strcmp(argv[1], "right"))
        for (int i = 0; i < 1000; i++)
            delete[] make();
}
