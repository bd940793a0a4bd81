// The graph file has what the program knows of its heap: each block with its size, verdict and first word, each
// pointer with the offset of its word and how far behind the target's start it points, and the root words. A reader
// written from docs/GRAPH.md alone compares. A freed block, and a word that points nowhere, are not in it.
// CFLAGS: -O0 -g
// CFLAGS: -O2 -g -fno-builtin
// RUN: export LIBLEAK_OPTIONS=graph=%d/graph:xor=0x5a5a000000000000; %leak %t >said && /usr/bin/python3 %S/lib/graph_is_what_the_program_said.py said graph
// RUN: %O/leakgraph graph | grep -E '^(Blocks|Pointers)'; %O/leakgraph graph path $(awk '$2 == "leaf" { print $3 }' said) | grep -E 'Held|make'
// EXPECT: ^[0-9]+ blocks, [0-9]+ edges: as the program said$
// EXPECT: ^Held by: table \(.*every_block_and_pointer.c:[0-9]+\) \+0x10$
// EXPECT: \+0x8 .* make_node \(.*every_block_and_pointer.c:[0-9]+\)$
// RUN: export LIBLEAK_OPTIONS=graph=%d/bare:content=0; %leak %t >bare.said && %O/leakgraph bare path $(awk '$2 == "leaf" { print $3 }' bare.said) --json | grep -c first_word; %O/leakgraph graph path $(awk '$2 == "leaf" { print $3 }' said) --json | grep -c first_word
// EXPECT: ^0$
// EXPECT: ^1$

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "../../include/libleak.h"

struct node { long tag; struct node *next; char *inside; long number; };
static struct node *volatile table[4];
static __thread struct node *volatile own;
static volatile uintptr_t hidden; /* xored */

__attribute__((noinline)) static struct node *make_node(long tag)
{
    struct node *node = malloc(sizeof *node);
    *node = (struct node){.tag = tag};
    return node;
}
static void say_block(const char *name, void *block, size_t size, const char *verdict)
{
    printf("block %s %p %zu %s\n", name, block, size, verdict);
}
static void say_edge(void *from, long offset, void *to, long into) { printf("edge %p %ld %p %ld\n", from, offset, to, into); }

__attribute__((noinline)) static void build(void)
{
    struct node *head = make_node(17), *leaf = make_node(0), *gone = make_node(1), *cycle = make_node(2);
    struct node *other = make_node(3), *outside = make_node(4), *coded = make_node(5);
    char *text = malloc(100), *big = malloc(300000);
    void **first = calloc(1, 40);
    memset(text, 'x', 100);
    memset(big, 0, 300000);
    table[2] = head;
    head->next = leaf;
    leaf->inside = text + 10;
    *(void **)(big + 299992) = text;
    first[0] = text;
    first[4] = big;
    own = (struct node *)first;
    say_block("head", head, sizeof *head, "reachable");
    say_block("leaf", leaf, sizeof *leaf, "reachable");
    say_block("text", text, 100, "reachable");
    say_block("big", big, 300000, "reachable");
    say_block("first", first, 40, "reachable");
    say_edge(head, 8, leaf, 0);
    say_edge(leaf, 16, text, 10);
    say_edge(big, 299992, text, 0);
    say_edge(first, 0, text, 0);
    say_edge(first, 32, big, 0);
    printf("word %p 0x11\nword %p 0x0\nword %p %p\nword %p 0x7878787878787878\n", (void *)head, (void *)leaf, (void *)first, text, text);
    printf("root %p %p globals\n", (void *)&table[2], (void *)head);
    /* a lost cycle; outside points into it and is lost alone */
    cycle->next = other;
    other->next = cycle;
    outside->next = cycle;
    say_block("outside", outside, sizeof *outside, "lost");
    say_block("cycle", cycle, sizeof *cycle, "indirect");
    say_block("other", other, sizeof *other, "indirect");
    say_edge(cycle, 8, other, 0);
    say_edge(other, 8, cycle, 0);
    say_edge(outside, 8, cycle, 0);
    /* a pool in a block: the words belong to the blocks in it */
    char *pool = malloc(4096);
    memset(pool, 0, 4096);
    libleak_block_new(pool + 64, 64);
    *(void **)(pool + 64 + 24) = head;
    *(void **)(pool + 1024) = leaf;
    leaf->number = (long)(pool + 64);
    say_block("pool", pool, 4096, "reachable");
    say_block("nested", pool + 64, 64, "reachable");
    say_edge(pool + 64, 24, head, 0);
    say_edge(pool, 1024, leaf, 0);
    say_edge(leaf, 24, pool + 64, 0);
    printf("other %p %p inside\n", pool + 64, pool);
    /* freed, and pointers to it are none */
    hidden = (uintptr_t)coded ^ 0x5a5a000000000000;
    say_block("coded", coded, sizeof *coded, "hidden");
    head->number = (long)gone;
    free(gone);
}

int main(void)
{
    setvbuf(stdout, NULL, _IONBF, 0);
    build();
    volatile char wipe[65536];
    memset((char *)wipe, 0, sizeof wipe);
    return 0;
}
