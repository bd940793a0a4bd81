/* Structures of one size whose members are pointers, enumerations, counters and numbers at different places: read as each
 * other they are impossible. gdb looks at them in finished(). */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum colour { RED = 3, GREEN, BLUE };

struct item {
    struct item *next, *previous;
    char *name;
    int (*compare)(const void *, const void *);
    double weight;
    unsigned refcount;
    enum colour colour;
};

struct buffer {
    size_t used, capacity;
    double filled;
    long serial;
    struct item *owner;
    unsigned char *bytes;
};

struct table {
    double load;
    enum colour colour;
    bool sorted, frozen;
    struct item **items;
    long count, alloc;
    struct buffer *text;
};

static struct item *items;
static struct table *table;
static struct buffer *buffers[8];

static int compare_names(const void *a, const void *b)
{
    return strcmp(a, b);
}

static struct item *item_new(int number)
{
    struct item *item = calloc(1, sizeof(*item));

    item->name = strdup("item");
    item->compare = compare_names;
    item->weight = number + 0.5;
    item->refcount = 1;
    item->colour = number % 2 ? RED : BLUE;
    item->next = items;
    if (items)
        items->previous = item;
    return items = item;
}

static struct buffer *buffer_new(int number)
{
    struct buffer *buffer = calloc(1, sizeof(*buffer));

    buffer->used = (size_t)number;
    buffer->capacity = 64;
    buffer->filled = number / 64.0;
    buffer->serial = 1000 + number;
    buffer->owner = items;
    buffer->bytes = calloc(1, 64);
    return buffer;
}

static struct table *table_new(void)
{
    struct table *made = calloc(1, sizeof(*made));

    made->load = 0.75;
    made->colour = GREEN;
    made->sorted = true;
    made->alloc = 40;
    made->items = calloc(40, sizeof(*made->items));
    for (struct item *item = items; item; item = item->next)
        made->items[made->count++] = item;
    made->text = buffers[1];
    return made;
}

__attribute__((noinline)) void finished(void)
{
    __asm__ volatile("" ::: "memory");
}

int main(void)
{
    for (int i = 0; i < 20; i++)
        item_new(i);
    for (int i = 1; i < 8; i++)
        buffers[i] = buffer_new(i);
    table = table_new();
    finished();
    return table->count == 20 ? 0 : 1;
}
