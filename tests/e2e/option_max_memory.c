// max_memory=: the runtime stays below it, what does not fit is counted and said, the program goes on.
// CFLAGS: -O1 -g -fno-builtin
// RUN: LIBLEAK_OPTIONS=max_memory=4m; %leak %t; %report store/*.leak; LIBLEAK_OPTIONS=; %leak %t
// EXPECT: grew by less than [0-9]+ MB: yes
// EXPECT: max_memory
// JSON: any("max_memory" in str(u) for u in procs[0].coverage.untracked)
// JSON: 0 < of("many", procs[0]).blocks < 1000000 and of("many", procs[1]).blocks == 1000000
// JSON: not any("max_memory" in str(u) for u in procs[1].coverage.untracked)
// JSON: procs[0].end.value == 0 and procs[1].end.value == 0

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *volatile sink;

static long resident_kb(void)
{
    char line[256];
    long kb = 0;
    FILE *f = fopen("/proc/self/status", "r");

    while (fgets(line, sizeof line, f))
        if (sscanf(line, "RssAnon: %ld", &kb) == 1)
            break;
    fclose(f);
    return kb;
}

__attribute__((noinline)) void many(void)
{
    for (int i = 0; i < 1000000; i++)
        sink = malloc(16); /* 32 bytes each in glibc: 32 MB */
    sink = NULL;
}

int main(void)
{
    long before = resident_kb();

    many();
    long grown = resident_kb() - before;
    const char *options = getenv("LIBLEAK_OPTIONS");
    if (options && strstr(options, "max_memory"))
        printf("grew by less than 40 MB: %s (%ld kB)\n", grown < 40000 ? "yes" : "no", grown);
    return 0;
}
