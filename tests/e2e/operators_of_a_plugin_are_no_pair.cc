// A plugin has a hidden operator new and delete of its own: what it allocates by malloc the program deletes,
// and the other way round. libleak knows the operator of a block by name, so it reports neither as
// mismatched; it still reports the real mismatches beside them.
// CFLAGS: -O0 -g
// CFLAGS: -O2 -g -fno-optimize-sibling-calls
// BUILD: c++ -O1 -g -w -fPIC -shared -Wl,-Bsymbolic -fno-optimize-sibling-calls -DPLUGIN -o %d/libplug.so %s
// JSON: wrong == {("mismatched-free", "main", "main"): 1} and named() and len(misuse(p)) == 1
// JSON: p.coverage.unknown_frees == 0

#include <cstdlib>
#include <dlfcn.h>
#include <new>

void *volatile sink;

#ifdef PLUGIN
__attribute__((noinline)) void *operator new(std::size_t n) { void *p = malloc(n); asm("" : "+r"(p)); return p; }
__attribute__((noinline)) void operator delete(void *p) noexcept { free(p); asm(""); }
__attribute__((noinline)) void operator delete(void *p, std::size_t) noexcept { free(p); asm(""); }
extern "C" int *make() { return new int; }
extern "C" void drop(int *p) { delete p; }
#else
int main()
{
    void *plugin = dlopen("./libplug.so", RTLD_NOW | RTLD_LOCAL);
    int *(*make)() = (int *(*)())dlsym(plugin, "make");
    void (*drop)(int *) = (void (*)(int *))dlsym(plugin, "drop");
    int *p = make();
    sink = p;
    delete p;
    p = new int;
    sink = p;
    drop(p);
    sink = new char[3];
    free(sink);
}
#endif
