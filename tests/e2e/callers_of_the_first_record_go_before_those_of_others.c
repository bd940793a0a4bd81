// Where two records do not fit a screen with four callers and two, the second one gives up its callers first: the
// function to fix is told of the first.
// CFLAGS: -O1 -g -fno-optimize-sibling-calls
// RUN: %leak %t; %report --color=never store/*.leak
// EXPECT: ^     read_file +
// EXPECT: ^2\.
// EXPECT: ^     add_item +
// REFUSE: ^     read_items +.*\n     read_line +.*\n     read_file +

#include <stdlib.h>

#define FAR __attribute__((noinline))

struct value {
    long kind, where[4];
};
struct table {
    struct value *values;
    char **keys;
    int *lengths;
};
struct item {
    double weight[5];
};

struct table *volatile tables[4];
struct item *volatile items[4];

FAR void add_key(struct table *table)
{
    table->lengths = malloc(8 * sizeof *table->lengths);
    table->keys = malloc(8 * sizeof *table->keys);
    table->values = malloc(8 * sizeof *table->values);
}
FAR void add_table(struct table *table)
{
    add_key(table);
}
FAR void read_table(struct table *table)
{
    add_table(table);
}

FAR struct item *add_item(void)
{
    struct item *item = malloc(8 * sizeof *item);
    return item;
}
FAR struct item *read_items(void)
{
    struct item *item = add_item();
    return item + !item;
}
FAR struct item *read_line(void)
{
    struct item *item = read_items();
    return item + !item;
}
FAR void read_file(void)
{
    struct table table;
    read_table(&table);
    items[0] = read_line();
    tables[0] = &table;
    table = (struct table){0};
    tables[0] = NULL;
    items[0] = NULL;
}
FAR void wipe(void)
{
    volatile char room[4096];
    for (unsigned i = 0; i < sizeof room; i++)
        room[i] = 0;
}

int main(void)
{
    read_file();
    wipe();
    return 0;
}
