// A list grows for ten seconds, and nearly four pass until all of it is freed: it grew. A list that takes as long to be
// worked through as it took to fill is a tooth.
// RUN: %leak %t 3.8 & %leak %t 10 tooth; wait; for s in %d/store/*.leak; do %report --growing $s; done
// EXPECT: ^ +push_38
// EXPECT: growing \+[0-9.]+ [kM]B/s for [0-9.]+ s, nothing freed
// EXPECT: ^     all of it was freed$
// REFUSE: ^ +push_90

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define SECONDS 10.0

struct node {
    struct node *next;
    char fill[1000];
};

static struct node *head;
static double began;

static double elapsed(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec / 1e9 - began;
}

#define PUSH(name)                                                                                                     \
    static __attribute__((noinline)) void name(void)                                                                   \
    {                                                                                                                  \
        struct node *node = malloc(sizeof *node);                                                                      \
        node->next = head;                                                                                             \
        head = node;                                                                                                   \
        __asm__ volatile("");                                                                                          \
    }
PUSH(push_38)
PUSH(push_90)

int main(int argc, char **argv)
{
    double falls = argc > 1 ? atof(argv[1]) : 1, t = 0, pushed = 0, freed = 0;
    int tooth = argc > 2;

    for (began = elapsed(); t < SECONDS; usleep(20000), t = elapsed())
        for (; pushed < t * 1000; pushed++)
            tooth ? push_90() : push_38();
    for (began += t; head; usleep(20000))
        for (t = elapsed(); head && freed < pushed * t / falls; freed++) {
            struct node *next = head->next;
            free(head);
            head = next;
        }
    return 0;
}
