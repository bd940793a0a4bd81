// A tree of 1,023 nodes that a global holds; one subtree of 255 is cut off: its top is lost, the rest of it
// indirect, retained by the top; the others are reachable. (Valgrind: leak-tree.)
// CFLAGS: -O0 -g -fno-builtin
// CFLAGS: -O2 -g -fno-builtin
// JSON: verdict("node") == {"reachable": (768, 768 * 32), "lost": (1, 32), "indirect": (254, 254 * 32)}
// JSON: one("node", "lost").retained == {"blocks": 255, "bytes": 255 * 32} and under("node", "node") is False
// JSON: one("node", "indirect").owner == one("node", "lost").signature

#include "lib/verdicts.h"

struct node { struct node *left, *right; };
static struct node *volatile global;
TAKE(node, 32)

FAR static struct node *tree(int depth)
{
    struct node *n, *list[1024];
    int count = 1;

    list[0] = n = node();
    for (int i = 0; count < 1023; i++) { /* no recursion: one stack, one record */
        list[count++] = list[i]->left = node();
        list[count++] = list[i]->right = node();
    }
    memset(list, 0, sizeof list);
    opaque(list);
    return n;
}

int main(void)
{
    global = tree(10);
    global->left->right = NULL;
    return 0;
}
