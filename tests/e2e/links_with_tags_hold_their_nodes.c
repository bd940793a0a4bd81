// A tree of glibc's tsearch has the color of a node in the low bit of a link: all of its nodes are reachable, also those that
// one tagged link holds, and a node that was cut off is lost. Texts of which only the second character is pointed at, from a
// table, stay possible beside many that are held at their start.
// CFLAGS: -O0 -g -fno-builtin
// CFLAGS: -O2 -g -fno-builtin
// RUN: %leak %t; LIBLEAK_OPTIONS=header_idiom=off; %leak %t
// JSON: verdict("add_number") == {"reachable": (300, 300 * 24)}
// JSON: verdict("text_of") == {"reachable": (50, 50 * 24), "possible": (3, 3 * 24)}
// JSON: verdict("node_of") == {"lost": (1, 32)}
// JSON: verdict("add_number", procs[1])["possible"][0] > 20

#include "lib/verdicts.h"
#include <search.h>
#include <stdint.h>

static void *root;
static char *volatile table[53];
TAKE(text_of, 24)
TAKE(node_of, 32)

FAR static int by_number(const void *one, const void *other)
{
    return ((uintptr_t)one > (uintptr_t)other) - ((uintptr_t)one < (uintptr_t)other);
}

FAR static void add_number(uintptr_t number)
{
    opaque(tsearch((void *)number, &root, by_number));
}

FAR static void fill(void)
{
    for (int i = 0; i < 300; i++)
        add_number(1 + i * 7919 % 300);
    for (int i = 0; i < 53; i++)
        table[i] = (char *)text_of() + (i < 3);
    void **one = node_of(), *volatile here;
    here = one;
    one[1] = (char *)one + 1;
    here = NULL;
    (void)here;
}

int main(void)
{
    fill();
    scrub();
    return 0;
}
