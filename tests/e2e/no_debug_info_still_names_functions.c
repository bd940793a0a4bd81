// Hard case 29: no debug info at all: names come from the symbol table, module+offset is always there,
// and the lack is said once with the remedy.
// CFLAGS: -O2 -g0 -fno-builtin
// RUN: %leak %t; %report store/*.leak >text; cat text; echo "said: $(grep -c '^No debug information: t' text)"
// EXPECT: leak_here
// EXPECT: said: 1
// EXPECT: (-g|dbgsym|debuginfo|debug info)
// JSON: of("leak_here").blocks == 1 and at("leak_here").line is None and at("leak_here").offset
// JSON: any(str(m).find("/t") >= 0 for m in p.coverage.modules_without_debuginfo)

#include <stdlib.h>

void *volatile sink;

__attribute__((noinline)) void leak_here(void)
{
    sink = malloc(10);
    sink = NULL;
}

int main(void)
{
    leak_here();
    return 0;
}
