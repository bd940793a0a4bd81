// A list that holds nearly all blocks ever allocated, and is emptied at the end of main: nothing is lost, and the
// first screen says what was alive at once, who allocated it, and where it was freed.
// RUN: %run %t
// EXPECT: ^9[89] % of all blocks ever allocated were alive at once: create_node,$
// EXPECT: ^  freed only at exit in free_list\.$
// REFUSE: Largest owner
// RUN: %run --format=json %t
// EXPECT: "held": \{
// EXPECT: "freed": "exit"
// RUN: %run --show=reachable --quiet %t

#include <stdlib.h>
#include <string.h>

struct node {
    struct node *next;
    char fill[40];
};

static struct node *head;

static __attribute__((noinline)) struct node *create_node(int n)
{
    struct node *node = malloc(sizeof *node);
    memset(node->fill, n, sizeof node->fill);
    return node;
}

static __attribute__((noinline)) void insert(int n)
{
    struct node *node = create_node(n);
    node->next = head;
    head = node;
    if (n % 100 == 0) { // it frees a little meanwhile
        char *volatile text = malloc(20);
        free(text);
    }
}

static __attribute__((noinline)) void free_list(void)
{
    while (head) {
        struct node *node = head;
        head = node->next;
        free(node);
    }
}

int main(void)
{
    for (int i = 0; i < 20000; i++)
        insert(i);
    free_list();
    return 0;
}
