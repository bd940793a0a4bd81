// Strings with a header in front, list links in the middle of a block: all blocks of such a site are
// held at one offset. They are reachable, with what they hold, and the report says so; blocks of the
// site that nothing holds are lost. With header_idiom=off they are possible.
// CFLAGS: -O0 -g -fno-builtin
// CFLAGS: -O2 -g -fno-builtin
// RUN: %leak %t; LIBLEAK_OPTIONS=header_idiom=off; %leak %t; %report --show=all --top=0 store/*.leak
// EXPECT: held behind a header: all 50 at \+12, from names
// EXPECT: only interior pointers: all 50 at \+12, from names
// EXPECT: held behind a header: all 20 at \+24, from blocks of link_new\(\)
// JSON: verdict("name_new") == {"reachable": (50, 50 * 40)} and one("name_new").header is True
// JSON: [(i.offset, i.blocks, i.root, i.holder) for i in one("name_new").interior] == [(12, 50, True, None)]
// JSON: verdict("name_of") == {"reachable": (50, 50 * 24)} and one("name_of").header is False and one("name_of").interior == []
// JSON: verdict("link_new") == {"reachable": (20, 20 * 64)} and sum(i.blocks for i in one("link_new").interior) == 20
// JSON: verdict("some_lost") == {"reachable": (7, 7 * 40), "lost": (3, 3 * 40)}
// JSON: verdict("at_exit") == {"reachable": (5, 5 * 40)} and one("at_exit").dropped is False
// JSON: verdict("name_new", procs[1]) == {"possible": (50, 50 * 40)} and verdict("name_of", procs[1]) == {"possible": (50, 50 * 24)}
// JSON: [(i.offset, i.blocks) for i in one("name_new", process=procs[1]).interior] == [(12, 50)]
// JSON: one("name_new", process=procs[1]).path[0].variable == "names"

#include "lib/verdicts.h"

static char *volatile names[50];
static char *volatile some[10];
static char *volatile last[5];
static void *volatile list;
static void *volatile freed_at_exit;
TAKE(name_new, 40)
TAKE(name_of, 24)
TAKE(link_new, 64)
TAKE(some_lost, 40)
TAKE(at_exit, 40)

FAR static void fill(void)
{
    for (int i = 0; i < 50; i++) {
        char *block = name_new();
        *(void **)block = name_of();
        names[i] = block + 12;
    }
    for (int i = 0; i < 20; i++) {
        char *block = link_new();
        *(void **)(block + 24) = list;
        list = block + 24;
    }
    for (int i = 0; i < 10; i++) {
        char *block = some_lost();
        if (i % 3 != 1)
            some[i] = block + 12;
    }
    for (int i = 0; i < 5; i++)
        last[i] = (char *)at_exit() + 8;
}

/* Exit code that frees something: the second leak check must agree with the first. */
static void clean_up(void) { free(freed_at_exit); }

int main(void)
{
    atexit(clean_up);
    freed_at_exit = malloc(100);
    fill();
    scrub();
    return 0;
}
