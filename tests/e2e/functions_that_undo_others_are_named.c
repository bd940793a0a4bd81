// A function that should have released the blocks and was not called, or forgets them, is in no stack: those that by
// their names undo the function that allocates are named. Not so for its callers, where a function is marked as
// the one to fix, for functions of other words, and what the report names anyway. --anonymize removes directories.
// CFLAGS: -O0 -g -fno-builtin
// RUN: %leak %t; %report -v store/*.leak; %report --format=html store/*.leak | grep -oE '"cp":\[.*\]\]'; %report --format=sarif store/*.leak | grep -o 'this function undoes [a-z_]*'; ! %report --anonymize --format=json store/*.leak | grep -oE '"(file|module)": ?"[^"]*/.*'
// EXPECT: ^     by its name, node_destroy( |$)
// EXPECT: functions_that_undo_others_are_named.c:20 undoes node_create$
// EXPECT: ^"cp":\[\[[0-9]+,[0-9]+\]\]$
// EXPECT: ^this function undoes node_create$
// REFUSE: by its name, (text_free|part_free|list_delete|FreeTree)
// REFUSE: undoes (main|walk|part_new|list_create|text_new)
// JSON: [(c.function, c.line, c.undoes) for c in hits("node_create")[0].counterparts] == [("node_destroy", 20, "node_create")]
// JSON: "/" in hits("node_create")[0].counterparts[0].file
// JSON: [r.counterparts for f in ("part_new", "list_create", "text_new") for r in hits(f)] == [[], [], []]

#include <stdlib.h>

#define FAR __attribute__((noinline))

FAR void node_destroy(void *it)
{
    free(it);
}
FAR void *node_create(void)
{
    return malloc(40);
}

/* forgets the nodes */
FAR void FreeTree(void **tree)
{
    tree[0] = NULL;
}
FAR void AllocTree(void **tree)
{
    tree[0] = node_create();
}

/* The function that forgets has a mark. */
FAR void part_free(void *it)
{
    free(it);
}
FAR void *part_new(void)
{
    return malloc(50);
}
FAR void walk(int forget)
{
    void *it = part_new();
    if (!forget)
        free(it);
}

/* Where others of the line are freed is told. */
FAR void list_delete(void *it)
{
    free(it);
}
FAR void *list_create(void)
{
    return malloc(60);
}

/* no counterpart: other words */
FAR void text_free_all(void)
{
}
FAR void text_new(void)
{
    malloc(70);
}

int main(void)
{
    void *tree[1];

    AllocTree(tree);
    FreeTree(tree);
    node_destroy(NULL);
    for (int i = 0; i < 2; i++)
        walk(i);
    list_delete(list_create());
    list_create();
    part_free(NULL);
    text_new();
    text_free_all();
    return 0;
}
