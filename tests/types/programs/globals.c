/* Results that go straight to globals, static arrays, members of globals, and through out-parameters. */
#include <stdlib.h>
#include "keep.h"

struct device {
    int number;
    struct queue *queue;
    char label[20];
};

struct queue {
    struct queue *next;
    long entries[9];
};

struct device *devices[8];
static struct {
    struct queue *queues[4];
    int count;
} state;
struct device *current;

__attribute__((noinline)) static void fill_devices(void)
{
    for (int i = 0; i < 8; i++) {
        devices[i] = malloc(sizeof(struct device)); // TYPE struct device
        devices[i]->number = i;
    }
}

__attribute__((noinline)) static void add_queue(int index)
{
    state.queues[index] = malloc(sizeof(struct queue)); // TYPE struct queue
    state.count++;
}

__attribute__((noinline)) static void set_current(void)
{
    current = calloc(1, sizeof(*current)); // TYPE struct device
}

__attribute__((noinline)) static int queue_make(struct queue **made)
{
    *made = malloc(sizeof(**made)); // TYPE struct queue
    return *made ? 0 : -1;
}

__attribute__((noinline)) static void aligned(void)
{
    struct queue *queue;

    if (posix_memalign((void **)&queue, 64, sizeof(*queue))) // TYPE struct queue
        abort();
    keep(queue);
}

int main(void)
{
    struct queue *made;

    fill_devices();
    for (int i = 0; i < 4; i++)
        add_queue(i);
    set_current();
    if (queue_make(&made) == 0)
        current->queue = made;
    aligned();
    return 0;
}
