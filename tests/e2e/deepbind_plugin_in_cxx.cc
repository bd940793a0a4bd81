// Promise 3.8: a C++ plugin loaded with RTLD_DEEPBIND: its operators are tracked as new and delete, blocks
// and strings cross the border either way and no release is called wrong; its exceptions are caught here.
// One that is wrong is.
// CFLAGS: -O1 -g -fno-optimize-sibling-calls
// BUILD: c++ -O1 -g -w -fPIC -shared -fno-optimize-sibling-calls -DPLUGIN -o %d/libplug.so %s
// EXPECT: caught 10
// JSON: wrong == {("mismatched-free", "make", "main"): 1} and named()
// JSON: (of("keep").blocks, of("keep").bytes, of("keep").kinds) == (10, 120, ["new[]"])
// JSON: of("make").blocks == 0 and of("text").blocks == 0 and p.coverage.unknown_frees == 0
// JSON: not untracked and p.end.value == 0

#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <stdexcept>
#include <string>

void *volatile sink;

#ifdef PLUGIN
extern "C" __attribute__((noinline)) void keep() { sink = new char[12]; sink = nullptr; }
extern "C" int *make() { return new int; }
extern "C" void drop(int *p) { delete p; }
extern "C" std::string text(const std::string &s) { return s + " and more than fits into the object itself"; }
extern "C" void fail() { throw std::runtime_error("of the plugin, long enough for the heap, and longer"); }
#else
int main()
{
    void *plugin = dlopen("./libplug.so", RTLD_NOW | RTLD_DEEPBIND);
    auto keep = (void (*)())dlsym(plugin, "keep"), fail = (void (*)())dlsym(plugin, "fail");
    auto make = (int *(*)())dlsym(plugin, "make");
    auto drop = (void (*)(int *))dlsym(plugin, "drop");
    auto text = (std::string(*)(const std::string &))dlsym(plugin, "text");
    int caught = 0;

    for (int i = 0; i < 10; i++) {
        int *p = make();
        sink = p;
        delete p;
        p = new int;
        sink = p;
        drop(p);
        std::string s = text(text("a text of the program's"));
        s += s;
        keep();
        try { fail(); } catch (std::exception &) { caught++; }
    }
    printf("caught %d\n", caught);
    sink = make();
    free(sink);
}
#endif
