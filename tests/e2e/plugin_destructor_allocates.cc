// A library's global object allocates in its destructor at dlclose: the stack leads through the start files'
// __do_global_dtors_aux, which has no unwind table, to the dlclose and on to main.
// BUILD: echo '#include <cstdlib>|void *volatile kept; struct Global { ~Global() { kept = malloc(77); } } global;' | tr '|' '\n' | g++ -w -O1 -g -shared -fPIC -x c++ -o %d/plugin.so -
// RUN: export LIBLEAK_OPTIONS; LIBLEAK_OPTIONS=unwind_check=1; %leak %t %d/plugin.so
// RUN: LIBLEAK_OPTIONS=unwind_check=1:unwind_oracle=libgcc; %leak %t %d/plugin.so
// EXPECT: ^closed 3 times
// JSON: of("~Global").blocks == 3 and of("__do_global_dtors_aux").blocks == 3
// JSON: all("main" in [f.function for f in r.frames] for r in hits("~Global"))
// JSON: all(q.coverage.truncated_stacks == q.coverage.unwind_mismatches == 0 for q in procs)

#include <cstdio>
#include <dlfcn.h>

int main(int, char **argv)
{
    int closed = 0;

    for (int i = 0; i < 3; i++)
        closed += dlclose(dlopen(argv[1], RTLD_NOW)) == 0;
    printf("closed %d times\n", closed);
}
