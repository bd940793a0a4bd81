// Blocks that their thread frees before it has allocated four more are temporary. Not those that live longer, nor
// those that another thread frees. What realloc moves step by step is told apart. With a sample of the frees the
// numbers are estimates. A long path stands in a line of its own.
// CFLAGS: -O1 -g -fno-builtin -fno-optimize-sibling-calls -pthread
// RUN: for w in all sample off; do LIBLEAK_OPTIONS=free_stacks=$w; %leak %t; %report --format=temporary $(ls -tr store/*.leak | tail -n1) | sed -z 's#\n *\(/[^ \n]*:[0-9]*\n\)#  \1#g' | sed "s/^/$w:/"; done
// EXPECT: ^all:.*: about [0-9,]+ of [0-9,]+ allocations
// EXPECT: ^all:1\. 2,000 temporary blocks, 100 % of those freed, 128 kB \(malloc\)$
// EXPECT: ^all: +at_once +.*temporary_blocks_are_counted.c:[0-9]+$
// EXPECT: ^all: +keep one buffer for the next use
// EXPECT: ^all:2\. [0-9]+ temporary blocks, .* \((malloc|realloc)\)$
// EXPECT: ^all: +grow +.*temporary_blocks_are_counted.c:[0-9]+$
// EXPECT: ^all: +(9[0-9]|100) % of them are moved by realloc here
// EXPECT: ^sample:1\. (1,9|2,0)[0-9]{2} temporary blocks, .* \(malloc\)$
// EXPECT: ^off:.*: no temporary blocks were seen
// REFUSE: (later|elsewhere) +.*temporary_blocks_are_counted

#include <pthread.h>
#include <stdlib.h>

#define FAR __attribute__((noinline))

static void *volatile sink;
static void *blocks[1000];

FAR void at_once(void)
{
    for (int i = 0; i < 2000; i++) {
        sink = malloc(64);
        free(sink);
    }
}

FAR void grow(void)
{
    char *text = NULL;
    for (int i = 1; i < 500; i++)
        sink = text = realloc(text, i * 16);
    free(text);
}

FAR void later(void)
{
    for (int i = 0; i < 1000; i++) {
        blocks[i] = malloc(48);
        if (i >= 8) {
            free(blocks[i - 8]);
            blocks[i - 8] = NULL;
        }
    }
}

FAR void elsewhere(void)
{
    blocks[0] = malloc(40);
}
static void *other(void *unused)
{
    free(blocks[0]);
    return unused;
}

int main(void)
{
    pthread_t thread;
    at_once();
    grow();
    later();
    for (int i = 0; i < 50; i++) {
        elsewhere();
        pthread_create(&thread, NULL, other, NULL);
        pthread_join(thread, NULL);
    }
    return 0;
}
