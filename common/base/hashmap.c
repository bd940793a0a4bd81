/* hashmap.c - a hash table from numbers to numbers, and hashes that are the same on every
 * machine. */
#include "common/base/hashmap.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/arena.h"

struct hashmap_entry {
    uint64_t key, value;
    bool used;
};

uint64_t hash_mix(uint64_t seed, uint64_t value)
{
    uint64_t x = (seed ^ value) * 0x9e3779b97f4a7c15ull;

    x ^= x >> 32;
    x = (x + seed) * 0xd6e8feb86659fd93ull;
    return x ^ (x >> 29);
}

uint64_t hash_text(uint64_t seed, const char *text, size_t length)
{
    uint64_t hash = hash_mix(seed, length);

    for (; length >= 8; text += 8, length -= 8) {
        uint64_t word = 0;

        for (int i = 0; i < 8; i++) /* byte by byte, so that the hash does not depend on the byte
                                     * order */
            word |= (uint64_t)(unsigned char)text[i] << (8 * i);
        hash = hash_mix(hash, word);
    }
    for (; length; text++, length--)
        hash = hash_mix(hash, (unsigned char)*text);
    return hash;
}

void hashmap_end(struct hashmap *map)
{
    free(map->entries);
    memset(map, 0, sizeof(*map));
}

static struct hashmap_entry *find_entry(const struct hashmap *map, uint64_t key)
{
    size_t at = hash_mix(0x6c65616b, key) & (map->size - 1);

    while (map->entries[at].used && map->entries[at].key != key)
        at = (at + 1) & (map->size - 1);
    return &map->entries[at];
}

static void double_size(struct hashmap *map)
{
    struct hashmap old = *map;
    size_t capacity = 0;

    map->size = old.size ? 2 * old.size : 16;
    map->entries = array_grow(NULL, &capacity, map->size, sizeof(*map->entries));
    memset(map->entries, 0, map->size * sizeof(*map->entries));
    for (size_t i = 0; i < old.size; i++)
        if (old.entries[i].used)
            *find_entry(map, old.entries[i].key) = old.entries[i];
    free(old.entries);
}

uint64_t *hashmap_put(struct hashmap *map, uint64_t key, bool *fresh)
{
    struct hashmap_entry *entry;

    if (4 * (map->used + 1) > 3 * map->size)
        double_size(map);
    entry = find_entry(map, key);
    if (fresh)
        *fresh = !entry->used;
    if (!entry->used) {
        *entry = (struct hashmap_entry){.key = key, .used = true};
        map->used++;
    }
    return &entry->value;
}

uint64_t hashmap_get(const struct hashmap *map, uint64_t key)
{
    return map->size ? find_entry(map, key)->value : 0;
}

uint64_t hashmap_next(const struct hashmap *map, size_t *at)
{
    while (*at < map->size) {
        const struct hashmap_entry *entry = &map->entries[(*at)++];

        if (entry->used)
            return entry->value;
    }
    return 0;
}
