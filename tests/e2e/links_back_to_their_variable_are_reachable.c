// The only member of a list whose head is a variable: its link leads back to the variable, so the block is reachable,
// with what it holds, and so is the only leaf of a tree. Where the head is in a block nothing tells the list from its member, and
// an owner of a list that was lost while its member is alive stays possibly lost. Pointers into a block that lead to
// nothing, or whose block keeps the address of the variable elsewhere, prove nothing either; a member that was taken
// out of its list is lost, whatever its own link says.
// CFLAGS: -O0 -g -fno-builtin
// CFLAGS: -O2 -g -fno-builtin
// RUN: %leak %t; LIBLEAK_OPTIONS=header_idiom=off; %leak %t; %report --show=all --top=0 store/*.leak
// EXPECT: held behind a header: \+40, from list
// JSON: verdict("member") == {"reachable": (1, 64)} and one("member").header is True
// JSON: verdict("of_member") == {"reachable": (1, 24)} and verdict("leaf") == {"reachable": (1, 96)}
// JSON: verdict("of_head") == {"reachable": (1, 80)} and verdict("in_heap") == {"possible": (1, 72)}
// JSON: verdict("alive") == {"reachable": (1, 88)} and verdict("lost_list") == {"possible": (1, 104)}
// JSON: verdict("cursor") == {"possible": (1, 112)} and verdict("far") == {"possible": (1, 120)}
// JSON: verdict("taken_out") == {"lost": (1, 128)}
// JSON: verdict("member", procs[1]) == {"possible": (1, 64)} and verdict("leaf", procs[1]) == {"possible": (1, 96)}

#include "lib/verdicts.h"

struct link {
    struct link *next, *before;
};
static struct link list = {&list, &list}, emptied = {&emptied, &emptied};
static void **tree, *volatile head, *volatile object;
static void **volatile text, **volatile variable;
TAKE(member, 64)
TAKE(of_member, 24)
TAKE(leaf, 96)
TAKE(of_head, 80)
TAKE(in_heap, 72)
TAKE(alive, 88)
TAKE(lost_list, 104)
TAKE(cursor, 112)
TAKE(far, 120)
TAKE(taken_out, 128)

FAR static void append(struct link *to, struct link *link)
{
    link->next = to;
    link->before = to->before;
    to->before->next = link;
    to->before = link;
}
FAR static struct link *link_in(void *block, unsigned at) { return (struct link *)((char *)block + at); }
FAR static struct link *empty(struct link *one) { return one->next = one->before = one; }

FAR static void fill(void)
{
    void **block = member(), *owner;
    block[0] = of_member();
    append(&list, link_in(block, 40));
    tree = (void **)leaf() + 5;
    tree[3] = &tree;
    append(empty(link_in(head = of_head(), 16)), link_in(in_heap(), 40));
    owner = lost_list();
    append(empty(link_in(owner, 16)), link_in(object = alive(), 40));
    text = (void **)cursor() + 3;
    variable = (void **)far() + 3;
    variable[4] = (void *)&variable;
    struct link *link = link_in(taken_out(), 40);
    append(&emptied, link);
    empty(&emptied);
}

int main(void)
{
    fill();
    scrub();
    return 0;
}
