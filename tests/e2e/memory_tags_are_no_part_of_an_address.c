// Where memory has tags (MTE, as qemu-aarch64 has it), a wrong one being a fault, frees are matched and counted, and
// what a freed block points to is read by the pointer that was freed. Elsewhere the same numbers come of no tags.
// ENV: GLIBC_TUNABLES=glibc.mem.tagging=3
// RUN: %leak %t
// JSON: p.coverage.unknown_frees == 0 and p.errors == [] and (of("hold_and_go").blocks, of("hold_and_go").bytes) == (1, 77)

#include <stdlib.h>

static void *volatile sink;

__attribute__((noinline)) static void hold_and_go(int size)
{
    void **holder = malloc(64);
    for (int i = 0; i < 8; i++)
        holder[i] = NULL;
    holder[5] = malloc(size);
    sink = holder[5];
    free(holder);
}

int main(void)
{
    for (int i = 0; i < 100; i++) {
        hold_and_go(100 + i);
        void *kept = realloc(sink, 1000);
        free(kept);
    }
    hold_and_go(77);
    sink = NULL;
    return 0;
}
