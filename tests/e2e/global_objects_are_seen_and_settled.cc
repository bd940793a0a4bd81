// Promises 1.33, 1.34, 2.4: what static constructors allocate is seen; what static destructors and
// atexit functions free is not reported; what they leave is.
// CFLAGS: -O1 -g -fno-builtin
// CFLAGS: -O0 -g -static-libstdc++
// JSON: of("kept_by_constructor").blocks == 1
// JSON: of("freed_by_destructor").blocks == 0 and of("freed_by_atexit").blocks == 0
// JSON: of("left_by_destructor").blocks == 1
// JSON: p.coverage.unknown_frees == 0

#include <cstdlib>
#include <string>
#include <vector>

#define FAR __attribute__((noinline))
void *volatile sink, *volatile late;
FAR void kept_by_constructor() { sink = malloc(10); sink = nullptr; }
FAR void freed_by_destructor(std::vector<std::string> &v) { for (int i = 0; i < 100; i++) v.push_back(std::string(100, 'x')); }
FAR void left_by_destructor() { sink = malloc(20); sink = nullptr; }
FAR void freed_by_atexit() { late = malloc(30); }
struct Global {
    std::vector<std::string> v;
    Global() { kept_by_constructor(); freed_by_destructor(v); }
    ~Global() { left_by_destructor(); }
} global;

int main()
{
    freed_by_atexit();
    atexit([] { free(late); });
}
