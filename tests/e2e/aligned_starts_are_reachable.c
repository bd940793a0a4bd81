// Buffers that the program aligns itself: it keeps the first multiple of 64 or 4096 behind a small header,
// and the pointer that free() needs in front of it, in the object, or nowhere. Reachable, unless it only
// looks aligned: one such address without the start, and addresses further on, prove nothing.
// CFLAGS: -O0 -g -fno-builtin
// CFLAGS: -O2 -g -fno-builtin
// RUN: %leak %t; LIBLEAK_OPTIONS=header_idiom=off; %leak %t
// JSON: verdict("with_start") == {"reachable": (1, 1000)} and one("with_start").header is True
// JSON: verdict("with_owner") == {"reachable": (1, 1000)}
// JSON: verdict("with_distance") == {"reachable": (1, 1000)} and verdict("with_text") == {"possible": (1, 1000)}
// JSON: verdict("many") == {"reachable": (12, sum(700 + 16 * i for i in range(12)))}
// JSON: verdict("page") == {"reachable": (1, 300000)}
// JSON: verdict("by_chance") == {"possible": (1, 1000)}
// JSON: verdict("further_on") == {"possible": (12, sum(1000 + 16 * i for i in range(12)))}
// JSON: verdict("with_start", procs[1]) == {"possible": (1, 1000)} and list(verdict("many", procs[1])) == ["possible"]

#include "lib/verdicts.h"
#include <stdint.h>

static char *volatile held[40];
FAR static char *with_start(void) { return opaque(calloc(1, 1000)); }
FAR static char *with_owner(void) { return opaque(calloc(1, 1000)); }
FAR static char *with_distance(void) { return opaque(calloc(1, 1000)); }
FAR static char *with_text(void) { return opaque(calloc(1, 1000)); }
FAR static char *many(size_t size) { return opaque(calloc(1, size)); }
FAR static char *page(void) { return opaque(calloc(1, 300000)); }
FAR static char *by_chance(void) { return opaque(calloc(1, 1000)); }
FAR static char *further_on(size_t size) { return opaque(calloc(1, size)); }

static char *align(char *start, size_t header, size_t to)
{
    return (char *)(((uintptr_t)start + header + to - 1) / to * to);
}

FAR static void fill(void)
{
    char *block = with_start();
    held[0] = align(block, 8, 64);
    ((void **)held[0])[-1] = block;
    block = with_owner();
    held[1] = align(block, 1, 64);
    ((void **)held[1])[5] = block;
    for (int i = 0; i < 12; i++)
        held[2 + i] = align(many(700 + 16 * i), 8, 64);
    held[14] = align(page(), 16, 4096);
    held[15] = align(by_chance(), 16, 64);
    block = with_distance();
    held[28] = align(block, 1, 64);
    held[28][-1] = (char)(held[28] - block);
    block = with_text();
    held[29] = align(block, 1, 64);
    held[29][-1] = (char)(held[29] - block);
    *block = ' ';
    for (int i = 0; i < 12; i++)
        held[16 + i] = align(further_on(1000 + 16 * i), 64 * (2 + i), 64);
}

int main(void)
{
    fill();
    scrub();
    return 0;
}
