// Hard case 29, 29d, promise 1.37: program and library paths with a space, a newline, a quote, UTF-8
// and bytes that are no UTF-8.
// CFLAGS: -O1 -g
// BUILD: gcc -w -O1 -g -shared -fPIC -DNAME=leak_of_named -DSIZE=100 -o %d/named.so %S/lib/named.c
// RUN: for n in 'a b' 'new
// RUN: line' 'quo"te\back' 'ünï' "$(printf 'bad\377\376byte')" 'se;mi$(x)'; do mkdir -p "$n"; cp %t "$n/t"; cp named.so "$n/plug in.so"; %leak "$n/t" "$PWD/$n/plug in.so" || exit 1; done
// RUN: %report store/*.leak >text || exit 1; iconv -f UTF-8 -t UTF-8 text >/dev/null && echo text is UTF-8
// EXPECT: text is UTF-8
// JSON: len(procs) == 6 and all(of("leak_of_named", q).blocks == 1 and of("in_main", q).blocks == 1 for q in procs)
// JSON: any("/a b/t" in q.exe for q in procs) and any("new\nline/t" in q.exe for q in procs)
// JSON: any('quo"te\\back/t' in q.exe for q in procs) and any("/ünï/t" in q.exe for q in procs)
// JSON: any("bad\u00ff\u00febyte" in q.exe for q in procs)
// JSON: any(at("leak_of_named", q).module.endswith("bad\u00ff\u00febyte/plug in.so") for q in procs)
// JSON: all(at("leak_of_named", q).line == 8 for q in procs)

#include <dlfcn.h>
#include <stdlib.h>

void *volatile sink;
__attribute__((noinline)) void in_main(void) { sink = malloc(10); sink = NULL; }

int main(int argc, char **argv)
{
    void *h = dlopen(argv[1], RTLD_NOW);

    if (!h) return 3;
    in_main();
    ((void (*)(void))dlsym(h, "run"))();
    return 0;
}
