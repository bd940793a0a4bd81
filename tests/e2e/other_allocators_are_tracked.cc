// Hard case 32: jemalloc, tcmalloc and mimalloc, preloaded behind us or linked dynamically: tracked with
// the same counts as glibc's own malloc.
// NEEDS: /usr/lib/x86_64-linux-gnu/libjemalloc.so.2 /usr/lib/x86_64-linux-gnu/libtcmalloc_minimal.so.4 /usr/lib/x86_64-linux-gnu/libmimalloc.so.2
// CFLAGS: -O1 -g -fno-builtin
// BUILD: for l in jemalloc.so.2 tcmalloc_minimal.so.4 mimalloc.so.2; do g++ -w -O1 -g -fno-builtin -o %d/with_$l %s -Wl,--no-as-needed /usr/lib/x86_64-linux-gnu/lib$l -pthread; mkdir -p %d/$l; mv %d/with_$l %d/$l/t; done
// RUN: %leak %t; for l in jemalloc.so.2 tcmalloc_minimal.so.4 mimalloc.so.2; do echo $l; env "LD_PRELOAD=%O/libleak.so /usr/lib/x86_64-linux-gnu/lib$l" LIBLEAK_OPTIONS=dir=%d/store %t || exit; %leak %d/$l/t || exit; done
// EXPECT: done, last word of main
// JSON: len(procs) == 7 and all(q.end.how == "exit" and q.end.value == 0 for q in procs)
// JSON: all(of("leak_malloc", q).blocks == 4000 and of("leak_malloc", q).bytes == 44000 for q in procs)
// JSON: all(of("leak_new", q).blocks == 4000 and of("leak_new", q).kinds == ["new"] for q in procs)
// JSON: all(of("leak_aligned", q).blocks == 4000 and of("leak_aligned", q).bytes == 4000 * 256 for q in procs)
// JSON: all(of("freed", q).blocks == 0 for q in procs)
// JSON: all(q.coverage.unknown_frees == 0 for q in procs)

#include <cstdio>
#include <cstdlib>
#include <malloc.h>
#include <new>
#include <string>
#include <thread>
#include <vector>

#define FAR __attribute__((noinline))
static thread_local void *volatile sink;
FAR void leak_malloc() { sink = malloc(11); sink = nullptr; }
FAR void leak_new() { sink = new int; sink = nullptr; }
FAR void leak_aligned() { sink = aligned_alloc(256, 256); sink = nullptr; } // mimalloc 2.0.9 aligns to 128
FAR void freed()
{
    free(malloc(100));
    free(realloc(calloc(10, 10), 10000));
    delete[] new char[100];
    sink = memalign(64, 100);
    malloc_usable_size(sink);
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
