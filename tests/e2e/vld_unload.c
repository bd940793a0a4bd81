// Visual Leak Detector's unload sequences: o opens, l leaks in, n frees in and c closes the first plugin, capital letters
// the second one. Every time that a plugin has leaked its 18 blocks are lost, in that plugin, however often either
// was loaded before and after.
// CFLAGS: -O1 -g
// BUILD: for n in one two; do g++ -w -std=c++17 -O1 -g -fno-builtin -fno-optimize-sibling-calls -shared -fPIC -Wl,--build-id -Wl,-soname,$n.so -o %d/$n.so %S/lib/eighteen.cc; done
// RUN: for s in oc onc olc olcolc olcolcolc ooclc olOLcC olOLCc oOlLcC olcOLColcOLC oncOLC olcOolLcC; do %leak %t $s; done
// JSON: len(procs) == len(ledger) == 12 and all(not q.errors and q.coverage.unknown_frees == 0 and q.end.value == 0 for q in procs)
// JSON: all(sum(r.blocks for r in q.records if r.verdict == "lost") == 18 * (int(l[1]) + int(l[2])) for q, l in zip(procs, ledger))
// JSON: all(sum(r.blocks for r in hits("all_leaks", q) if any(f.module and f.module.endswith(so) for f in r.frames)) == 18 * int(n) for q, l in zip(procs, ledger) for so, n in [("/one.so", l[1]), ("/two.so", l[2])])
// JSON: all((f.base, f.line) == ("eighteen.cc", 20 + n) for q in procs for n in range(1, 19) for f in at("leak_%d" % n, q, all=True))
// JSON: all(sum(r.blocks for r in hits("leak_%d" % n, q)) == int(l[1]) + int(l[2]) for q, l in zip(procs, ledger) for n in range(1, 19))

#include <ctype.h>
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    void *plugin[2] = {0};
    int leaked[2] = {0};
    FILE *ledger;

    for (const char *s = argv[1]; *s; s++) {
        int which = isupper(*s) != 0;

        switch (tolower(*s)) {
        case 'o': plugin[which] = dlopen(which ? "./two.so" : "./one.so", RTLD_NOW); break;
        case 'c': dlclose(plugin[which]); break;
        case 'l': ((void (*)(void))dlsym(plugin[which], "all_leaks"))(); leaked[which]++; break;
        case 'n': ((void (*)(void))dlsym(plugin[which], "no_leaks"))(); break;
        }
    }
    ledger = fopen("ledger", "a");
    fprintf(ledger, "%s %d %d\n", argv[1], leaked[0], leaked[1]);
    return fclose(ledger);
}
