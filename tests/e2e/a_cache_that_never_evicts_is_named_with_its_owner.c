// A cache that is never emptied, but whose entries can be freed: nothing is lost, and the first screen names the
// variable that keeps it, the path, and where other entries are freed.
// RUN: %run %t
// EXPECT: ^Largest owner, 1\.0 MB in 9,000 blocks:
// EXPECT: ^ *g_cache\[[0-9]+\]->next\{[0-9]+\} \(
// EXPECT: from cache_put\(\)
// EXPECT: ^ +(> )?others are freed in cache_drop
// REFUSE: freed only at exit
// REFUSE: ^ *1\.

#include <stdlib.h>
#include <string.h>

struct entry {
    struct entry *next;
    int key;
    char text[100];
};

static struct entry *g_cache[512];

static __attribute__((noinline)) void cache_put(int key)
{
    struct entry *entry = malloc(sizeof *entry);
    memset(entry->text, key, sizeof entry->text);
    entry->key = key;
    entry->next = g_cache[key % 512];
    g_cache[key % 512] = entry;
}

static __attribute__((noinline)) void cache_drop(int key)
{
    struct entry *entry = g_cache[key % 512];
    if (entry && entry->key == key) {
        g_cache[key % 512] = entry->next;
        free(entry);
    }
}

int main(void)
{
    for (int i = 0; i < 10000; i++) {
        cache_put(i);
        if (i % 10 == 0)
            cache_drop(i);
    }
    return 0;
}
