// All blocks are alive at once, but they are freed long before the program ends: it does not say "only at exit".
// RUN: %run %t
// EXPECT: alive at once: create_node,$
// EXPECT: ^  freed in free_list\.$
// REFUSE: only at exit

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void *kept[20000];

static __attribute__((noinline)) void *create_node(void)
{
    void *node = malloc(48);
    memset(node, 1, 48);
    return node;
}

static __attribute__((noinline)) void free_list(void)
{
    for (int i = 0; i < 20000; i++)
        free(kept[i]);
}

int main(void)
{
    for (int i = 0; i < 20000; i++)
        kept[i] = create_node();
    usleep(300000);
    free_list();
    for (int i = 0; i < 20; i++) { // it goes on
        char *volatile text = malloc(20);
        free(text);
        usleep(150000);
    }
    return 0;
}
