// Functions to which a caller passes the block, or a structure that holds it, are in no stack, and are named with the line
// of the call. Not so: those that the report names anyway, functions of libc, a result that is a number, and other
// pointers. Of two callers the outer one counts. --anonymize removes directories.
// CFLAGS: -O1 -g -fno-builtin -fno-inline -fno-optimize-sibling-calls
// RUN: %leak %t; %report -v store/*.leak; %report --format=html store/*.leak | grep -oE '"ho":\[\[[^]]*\]'; ! %report --anonymize --format=json store/*.leak | grep -oE '"(file|module)": ?"[^"]*/.*'
// EXPECT: ^     main passes the result of tree_new to tree_cut in line 86,$
// EXPECT: ^       tree_print in line 87$
// EXPECT: ^     build passes the result of node_new to node_mark in line 43$
// EXPECT: ^"ho":\[\[[0-9]+,[0-9]+,[0-9]+\]$
// REFUSE: passes the result of (count_new|text_new|alone_new)
// REFUSE: to .*(puts|strlen|other)
// REFUSE: node_new to node_name
// JSON: [(h.function, h.line, h.caller, h.result_of) for h in hits("tree_new")[0].handovers] == [("tree_cut", 86, "main", "tree_new"), ("tree_print", 87, "main", "tree_new")]
// JSON: [r.handovers for f in ("count_new", "text_new", "alone_new") for r in hits(f)] == [[], [], []]

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct tree {
    char *name;
};

static char *volatile kept;

static char *node_name(char *node)
{
    return node;
}
static char *node_new(void)
{
    return node_name(malloc(70));
}
static void node_mark(char *node)
{
    node[0] = 1;
}
static int build(void)
{
    char *node = node_new();
#line 43
    node_mark(node);
    return 3;
}

/* The block is held by what is returned, and the function that forgets it is tree_cut. */
static struct tree *tree_new(void)
{
    static struct tree tree;

    tree.name = malloc(40);
    return &tree;
}
static void tree_cut(struct tree *tree)
{
    tree->name = NULL;
}
static void tree_print(struct tree *tree)
{
    kept = (char *)&tree->name;
}
static void other(char *it)
{
    kept = it;
}

/* a number, and text for libc */
static int count_new(void)
{
    kept = malloc(50);
    kept = NULL;
    return 5;
}
static void take_number(int number)
{
    kept = NULL + (number == 7);
}
static char *text_new(void)
{
    return strcpy(malloc(60), "text");
}
static void alone_new(void)
{
    malloc(80);
}

#line 80
int main(void)
{
    struct tree *tree;
    char here[4] = "abc";

    tree = tree_new();
    tree_cut(tree);
    tree_print(tree);
    take_number(count_new());
    other(here);
    puts(text_new());
    alone_new();
    take_number(build());
    kept = NULL;
    return 0;
}
