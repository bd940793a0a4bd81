// jemalloc and tcmalloc linked statically, operators new and delete of their own included: the same counts as glibc's
// malloc has, also when the program is stripped of all that it need not export.
// NEEDS: /usr/lib/x86_64-linux-gnu/libjemalloc.a /usr/lib/x86_64-linux-gnu/libtcmalloc_minimal.a
// CFLAGS: -O1 -g -fno-builtin
// BUILD: for l in jemalloc tcmalloc_minimal; do for how in -pie -no-pie; do mkdir -p %d/$l$how %d/$l$how-bare; g++ -std=c++17 -w -O1 -g -fno-builtin $how -o %d/$l$how/t %s -Wl,-Bstatic -l$l -Wl,-Bdynamic -pthread -ldl && strip -o %d/$l$how-bare/t %d/$l$how/t || exit 1; done; done
// RUN: %leak %t; for d in %d/jemalloc* %d/tcmalloc*; do $d/t >$d/out && %leak $d/t >$d/out2 2>&1 && cmp $d/out $d/out2 || exit; done; echo done
// EXPECT: ^done$
// JSON: len(procs) == 9 and all(q.end.how == "exit" and q.end.value == 0 and not q.errors for q in procs)
// JSON: all(q.totals.allocations >= 28000 and q.totals.frees >= 16000 for q in procs)
// JSON: all(sum(r.blocks for r in q.records if r.kind == "new" and r.bytes == 4 * r.blocks) == 4000 for q in procs)
// JSON: all(sum(r.blocks for r in q.records if r.kind == "memalign" and r.bytes == 256 * r.blocks) == 4000 for q in procs)
// JSON: all(sum(r.blocks for r in q.records if r.kind == "malloc" and r.bytes == 11 * r.blocks) == 4000 for q in procs)
// JSON: all(of("freed", q).blocks == 0 and q.coverage.unknown_frees <= 4 for q in procs)
// JSON: "own" not in str([q.coverage.untracked for q in procs]).lower()

#include <cstdio>
#include <cstdlib>
#include <malloc.h>
#include <thread>
#include <vector>

#define FAR __attribute__((noinline))
static thread_local void *volatile sink;
FAR void leak_malloc() { sink = malloc(11); sink = nullptr; }
FAR void leak_new() { sink = new int; sink = nullptr; }
FAR void leak_aligned() { sink = aligned_alloc(256, 256); sink = nullptr; }
FAR void freed()
{
    free(malloc(100));
    free(realloc(calloc(10, 10), 10000));
    delete[] new char[100];
    sink = memalign(64, 100);
    if (malloc_usable_size(sink) < 100)
        abort();
    free(sink);
    sink = nullptr;
}

int main()
{
    std::vector<std::thread> threads;

    for (int t = 0; t < 4; t++)
        threads.emplace_back([] {
            for (int i = 0; i < 1000; i++) { leak_malloc(); leak_new(); leak_aligned(); freed(); }
        });
    for (auto &t : threads)
        t.join();
    puts("done, last word of main");
}
