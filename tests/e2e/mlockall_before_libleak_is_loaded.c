// A process whose future memory is locked (mlockall) loads libleak: neither the recording, a gigabyte of empty mapping,
// nor libleak's own memory is locked and filled; only libleak.so is, as any library would be.
// RUN: LIBLEAK_OPTIONS=dir=%d/store %t %O/libleak.so
// EXPECT: ^locked less than 8 MB$
// JSON: of("leak").blocks == 1
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

void *volatile sink;
__attribute__((noinline)) void leak(void) { sink = malloc(77); sink = NULL; }

int main(int argc, char **argv)
{
    char line[256];
    long locked = 1 << 30;
    if (mlockall(MCL_CURRENT | MCL_FUTURE)) /* not allowed here: nothing to see */
        locked = 0;
    if (!dlopen(argv[1], RTLD_NOW))
        return 2;
    leak();
    FILE *status = fopen("/proc/self/status", "r");
    while (status && locked && fgets(line, sizeof line, status))
        if (strncmp(line, "VmLck:", 6) == 0)
            locked = atol(line + 6);
    fclose(status);
    if (locked < 8 << 10)
        puts("locked less than 8 MB");
    else
        printf("locked %ld kB\n", locked);
    return 0;
}
