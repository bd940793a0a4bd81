/* program.c - what the recordings of tests/recordings were made of: what is lost, what is held, what stays open. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct node {
    struct node *next;
    char text[40];
};
void *volatile sink;
static struct node *list;

static void lose_a_pair(void)
{
    struct node *first = calloc(1, sizeof *first);

    first->next = calloc(1, sizeof *first);
    sink = first;
    sink = NULL;
}

static void *work(void *count)
{
    for (int i = 0; i < *(int *)count; i++) {
        struct node *made = calloc(1, sizeof *made);
        made->next = list;
        list = made;
    }
    return NULL;
}

int main(void)
{
    pthread_t thread;
    int count = 50;
    char *block = malloc(24);

    for (int i = 0; i < 3; i++)
        lose_a_pair();
    pthread_create(&thread, NULL, work, &count);
    pthread_join(thread, NULL);
    free(block);
    return fopen("/dev/null", "r") == NULL;
}
