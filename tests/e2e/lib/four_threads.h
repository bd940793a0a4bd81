/* four_threads.h - a whole program, for tests of other allocators: four threads that lose 1000 blocks each of every
 * kind, and lose none of what they free. */
#include <cstdio>
#include <cstdlib>
#include <malloc.h>
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
