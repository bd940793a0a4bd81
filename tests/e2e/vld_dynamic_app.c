// Visual Leak Detector's dynamic application: a plugin with 18 leaks, found with function and line while it is
// loaded, after dlclose, and when it was loaded with RTLD_DEEPBIND; one that frees them has none. (leak_9 calls
// a malloc that it asks dlsym for: with RTLD_DEEPBIND that is libc's own, which passes by.)
// CFLAGS: -O1 -g
// BUILD: g++ -w -std=c++17 -O1 -g -fno-builtin -fno-optimize-sibling-calls -shared -fPIC -o %d/eighteen.so %S/lib/eighteen.cc
// RUN: for how in keep close deep none; do %leak %t ./eighteen.so $how; done
// JSON: len(procs) == 4 and all(not q.errors and q.coverage.unknown_frees == 0 and not q.coverage.untracked and q.end.value == 0 for q in procs)
// JSON: [sum(r.blocks for r in q.records if r.verdict == "lost") for q in procs] == [18, 18, 17, 0]
// JSON: all(verdict("all_leaks", q) == {"lost": (18 - (q is procs[2]), of("all_leaks", q).bytes)} for q in procs[:3])
// JSON: all(verdict("leak_%d" % n, q).get("lost", (0, 0))[0] == 1 and of("leak_%d" % n, q).bytes >= n for q in procs[:3] for n in range(1, 19) if q is not procs[2] or n != 9)
// JSON: all((at("leak_%d" % n, q).base, at("leak_%d" % n, q).line) == ("eighteen.cc", 20 + n) for q in procs[:3] for n in range(1, 19) if q is not procs[2] or n != 9)
// JSON: all(at("all_leaks", q).module.endswith("/eighteen.so") for q in procs[:3]) and of("no_leaks", procs[3]).blocks == 0

#include <dlfcn.h>
#include <string.h>

int main(int argc, char **argv)
{
    void *plugin = dlopen(argv[1], RTLD_NOW | (strcmp(argv[2], "deep") ? 0 : RTLD_DEEPBIND));
    const char *name = strcmp(argv[2], "none") ? "all_leaks" : "no_leaks";

    ((void (*)(void))dlsym(plugin, name))();
    return strcmp(argv[2], "keep") ? dlclose(plugin) : argc != 3;
}
