// An object behind a header that contains its own address, as the main thread of a Lua interpreter does, is
// reachable by a pointer to it, with what it holds. An empty list in a block contains its address as well,
// and a buffer begins with where its text begins: pointers to these prove nothing.
// CFLAGS: -O0 -g -fno-builtin
// CFLAGS: -O2 -g -fno-builtin
// RUN: %leak %t; LIBLEAK_OPTIONS=header_idiom=off; %leak %t; %report --show=all --top=0 store/*.leak
// EXPECT: held behind a header: \+8, from state
// JSON: verdict("interpreter") == {"reachable": (1, 1500)} and one("interpreter").header is True
// JSON: verdict("of_interpreter") == {"reachable": (1, 40)}
// JSON: verdict("with_list") == {"possible": (1, 200)} and verdict("with_tree") == {"possible": (1, 200)}
// JSON: verdict("with_ring") == {"possible": (1, 200)} and verdict("buffer") == {"possible": (1, 200)}
// JSON: verdict("lost_interpreter") == {"lost": (1, 1500)}
// JSON: verdict("interpreter", procs[1]) == verdict("of_interpreter", procs[1]) | {"possible": (1, 1500)}

#include "lib/verdicts.h"

static void *volatile state, *volatile list, *volatile tree, *volatile ring;
static char *volatile text;
TAKE(interpreter, 1500)
TAKE(lost_interpreter, 1500)
TAKE(of_interpreter, 40)
TAKE(with_list, 200)
TAKE(with_tree, 200)
TAKE(with_ring, 200)
TAKE(buffer, 200)

FAR static void **behind_header(void *block, unsigned words)
{
    return (void **)block + words;
}

FAR static void fill(void)
{
    void **object = behind_header(interpreter(), 1);
    object[2] = of_interpreter();
    object[40] = object;
    state = object;
    object = behind_header(lost_interpreter(), 1);
    object[40] = object;
    object = behind_header(with_list(), 2);
    object[0] = object[1] = object;
    list = object;
    object = behind_header(with_tree(), 1);
    object[2] = object[3] = object;
    tree = object;
    object = behind_header(with_ring(), 2);
    object[0] = object;
    ring = object;
    object = buffer();
    object[0] = object[1] = object + 3;
    text = (char *)(object + 3);
}

int main(void)
{
    fill();
    scrub();
    return 0;
}
