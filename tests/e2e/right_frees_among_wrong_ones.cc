// Three threads do everything right as fast as they can, two do wrong: other forms, realloc, frees of what waits
// in the queue (which is as long as the program is). Every wrong one is counted once, of the right ones none,
// and the account adds up.
// CFLAGS: -O1 -g -fno-builtin -fno-optimize-sibling-calls
// ENV: LIBLEAK_OPTIONS=quarantine=128m:free_stacks=all
// EXPECT: ^all done$
// JSON: wrong == {("mismatched-free", "make_array", "wrong_form"): 20000, ("double-free", "make_array", "twice"): 20000, ("bad-realloc", "make_array", "wrong_realloc"): 2000}
// JSON: p.coverage.unknown_frees == 0 and p.end.how == "exit" and p.totals.allocations - p.totals.frees == p.totals.live_blocks
// JSON: all(r.verdict != "lost" for r in p.records) and all({f.function for f in e.freed.frames} & {"twice(char*)", "twice"} for e in misuse(p) if e.type == "double-free")

#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#define FAR __attribute__((noinline))

FAR char *make_array() { char *p = new char[24]; asm("" : "+r"(p)); return p; }
FAR void wrong_form(char *p) { free(p); asm(""); }
FAR void twice(char *p)
{
    for (volatile int i = 0; i < 2; i++)
        delete[] p;
}
FAR void wrong_realloc(char *p) { free(realloc(p, 100)); asm(""); }

static void right(unsigned seed)
{
    std::vector<std::string> kept(100);
    for (int i = 0; i < 60000; i++) {
        kept[rand_r(&seed) % kept.size()] = std::string(rand_r(&seed) % 200, 'x');
        free(realloc(malloc(10), 200));
        delete[] make_array();
    }
}

static void does_wrong()
{
    for (int i = 0; i < 10000; i++) {
        wrong_form(make_array());
        twice(make_array());
        if (i % 10 == 0)
            wrong_realloc(make_array());
    }
}

int main()
{
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < 3; i++)
        threads.emplace_back(right, i);
    for (int i = 0; i < 2; i++)
        threads.emplace_back(does_wrong);
    for (auto &thread : threads)
        thread.join();
    puts("all done");
}
