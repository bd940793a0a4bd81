// 1,000 blocks leaked at a known line through an inlined function, a template and a plugin that is
// closed again: function, file and line right in text and JSON; two runs give equal signatures.
// CFLAGS: -O0 -g
// CFLAGS: -O2 -g
// CFLAGS: -O2 -g -gdwarf-5
// CFLAGS: -O2 -g -gdwarf-4 -fomit-frame-pointer
// BUILD: g++ -O2 -g -shared -fPIC -o %d/plugin.so %S/lib/plugin.cc
// RUN: %leak %t %d/plugin.so
// RUN: %leak %t %d/plugin.so
// RUN: %report %d/store/*.leak
// EXPECT: take_inlined
// EXPECT: leak_lines_are_right\.cc:[0-9]+
// EXPECT: plugin_leak
// EXPECT: plugin\.cc:8
// REFUSE: \?\?:
// JSON: (of("through_inlined").blocks, of("through_inlined").bytes) == (1000, 1000 * 31)
// JSON: at("take_inlined").base == "leak_lines_are_right.cc" and at("take_inlined").line == line("inlined")
// JSON: at("through_inlined").line == line("calls inlined")
// JSON: (of("take_template").blocks, of("take_template").bytes) == (1000, 1000 * 8 * 5)
// JSON: at("take_template").line == line("template") and at("take_template").base == "leak_lines_are_right.cc"
// JSON: at("take_template").function.find("double") > 0
// JSON: of("take_template").kinds == ["new[]"]
// JSON: at("through_template").line == line("calls template")
// JSON: (of("plugin_leak").blocks, of("plugin_leak").bytes) == (1000, 1000 * 123)
// JSON: at("plugin_leak").base == "plugin.cc" and at("plugin_leak").line == 8
// JSON: at("plugin_leak").module.endswith("/plugin.so") and len(at("plugin_leak").build_id) == 40
// JSON: at("run_plugin").line == line("calls plugin")
// JSON: ("take_inlined", line("inlined")) in user and ("plugin_leak", 8) in user and ("take_template", line("template")) in user
// JSON: emulated or [verdict(n) for n in ("through_inlined", "through_template", "plugin_leak")] == [{"lost": (1000, 31000)}, {"lost": (1000, 40000)}, {"lost": (1000, 123000)}]
// JSON: at("main", all=True) and all(f.base == "leak_lines_are_right.cc" for f in at("main", all=True))
// JSON: len(procs) == 2 and sig("main", procs[0]) == sig("main", procs[1]) and len(set(sig("main"))) == len(sig("main"))
// JSON: all(f.inlined == ("take_inlined" == f.function.split("(")[0]) for f in at("take_inlined", all=True)) or at("take_inlined").inlined is False

#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>

void *volatile sink;

static inline void take_inlined(size_t n)
{
    sink = malloc(n); // inlined
    sink = (char *)sink + 1;
}

template <class T> __attribute__((noinline)) void take_template(int n)
{
    sink = new T[n]; // template
    sink = (char *)sink + 1;
}

__attribute__((noinline)) void through_inlined()
{
    take_inlined(31); // calls inlined
    sink = (char *)sink + 1;
}

__attribute__((noinline)) void through_template()
{
    take_template<double>(5); // calls template
    sink = (char *)sink + 1;
}

__attribute__((noinline)) void run_plugin(const char *path)
{
    void *h = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!h) { puts(dlerror()); exit(1); }
    ((void (*)(int))dlsym(h, "plugin_leak"))(1000); // calls plugin
    dlclose(h);
}

int main(int, char **argv)
{
    for (int i = 0; i < 1000; i++) {
        through_inlined();
        through_template();
    }
    run_plugin(argv[1]);
    sink = nullptr;
    return 0;
}
