/* A hash table with void * values, grown by realloc. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "keep.h"

struct entry {
    struct entry *next;
    const char *key;
    void *value;
    uint32_t hash;
};

struct table {
    struct entry **buckets;
    size_t size, used;
};

struct payload {
    double numbers[5];
};

static struct table *table_new(size_t size)
{
    struct table *table = malloc(sizeof(*table)); // TYPE struct table

    if (!table)
        return NULL;
    table->size = size;
    table->used = 0;
    table->buckets = calloc(size, sizeof(*table->buckets)); // TYPE struct entry *
    return table;
}

static uint32_t hash_of(const char *key)
{
    uint32_t hash = 5381;

    while (*key)
        hash = hash * 33 + (unsigned char)*key++;
    return hash;
}

static void table_put(struct table *table, const char *key, void *value)
{
    uint32_t hash = hash_of(key);
    struct entry **slot = &table->buckets[hash % table->size];
    struct entry *entry = malloc(sizeof(*entry)); // TYPE struct entry

    *entry = (struct entry){*slot, key, value, hash};
    *slot = entry;
    table->used++;
}

static void *payload_new(double first)
{
    struct payload *made = malloc(sizeof(*made)); // TYPE struct payload

    made->numbers[0] = first;
    return made;
}

int main(void)
{
    static char names[10][8];
    struct table *table = table_new(64);

    for (int i = 0; i < 10; i++) {
        names[i][0] = (char)('a' + i);
        table_put(table, names[i], payload_new(i));
    }
    keep(table);
    return 0;
}
