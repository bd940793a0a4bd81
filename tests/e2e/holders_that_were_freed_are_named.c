// Of a lost block it is said who freed what pointed to it last: where it should have been freed, too. That is
// said of no block whose holder gave it away before, nor where children go after their parents.
// CFLAGS: -O1 -g -fno-builtin -fno-optimize-sibling-calls
// RUN: %leak %t; %report store/*.leak
// RUN: LIBLEAK_OPTIONS=free_stacks=all; %leak %t; LIBLEAK_OPTIONS=free_stacks=off; %leak %t
// EXPECT: ^ +it was owned by a block from make_user\(\), which was freed in drop_user( at .*)?$
// REFUSE: from make_pair
// REFUSE: was freed in drop_tree
// JSON: [f.function for f in hits("make_name")[0].holder_freed.frames if f.user] == ["drop_user"]
// JSON: [f.line for f in hits("make_name")[0].holder_freed.frames if f.user] == [line("here")]
// JSON: [f.function for f in hits("make_name")[0].holder_freed.holder] == ["make_user"]
// JSON: 1 <= hits("make_name")[0].holder_freed.blocks <= 4
// JSON: hits("make_value")[0].verdict == "lost" and hits("make_value")[0].holder_freed is None
// JSON: hits("make_node")[0].verdict == "lost" and hits("make_node")[0].holder_freed is None
// JSON: [f.function for f in hits("make_name", procs[1])[0].holder_freed.frames if f.user] == ["drop_user"]
// JSON: hits("make_name", procs[2])[0].holder_freed is None

#include <stdlib.h>

#define FAR __attribute__((noinline))

struct user {
    long number;
    char *name;
};
struct pair {
    long number;
    char *value;
};
struct node {
    struct node *left, *right;
};

FAR char *make_name(void) { return malloc(40); }
FAR struct user *make_user(void)
{
    struct user *user = malloc(sizeof *user);
    user->name = make_name();
    return user;
}
FAR void drop_user(struct user *user)
{
    free(user); // here
}

FAR char *make_value(void) { return malloc(50); }
FAR struct pair *make_pair(void)
{
    struct pair *pair = malloc(sizeof *pair);
    pair->value = make_value();
    return pair;
}
FAR void drop_pair(struct pair *pair)
{
    pair->value = NULL;
    free(pair);
}

FAR struct node *make_node(struct node *left, struct node *right)
{
    struct node *node = malloc(sizeof *node);
    node->left = left;
    node->right = right;
    return node;
}
FAR struct node *make_tree(int depth)
{
    return depth ? make_node(make_tree(depth - 1), make_tree(depth - 1)) : NULL;
}
FAR void drop_tree(struct node *node)
{
    if (!node)
        return;
    struct node *left = node->left, *right = node->right;
    free(node);
    drop_tree(left);
    drop_tree(right);
}

struct node *volatile kept;

int main(void)
{
    for (int i = 0; i < 30; i++)
        drop_user(make_user());
    for (int i = 0; i < 30; i++)
        drop_pair(make_pair());
    for (int i = 0; i < 30; i++)
        drop_tree(make_tree(4));
    kept = make_node(NULL, NULL); /* of the same line, and lost otherwise */
    kept = NULL;
    return 0;
}
