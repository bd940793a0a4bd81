/* hashmap.h - a hash table from 64-bit keys to 64-bit values, and the hash functions of all
 * tools.
 *
 * Open addressing with linear probing, doubled at three quarters full; entries are never
 * removed. The hash values are visible to users (signatures are made of them), so the hash
 * functions never change.
 */
#ifndef COMMON_BASE_HASHMAP_H
#define COMMON_BASE_HASHMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hashmap {
    struct hashmap_entry *entries;
    size_t size; /* number of places for entries: a power of two, or 0 */
    size_t used;
};

/* A zeroed struct hashmap is empty; hashmap_end() frees the entries and leaves it empty. */
void hashmap_end(struct hashmap *map);

/* Finds or adds a key and returns the address of its value, valid until the next hashmap_put().
 * A new key has the value 0; *fresh, unless NULL, says whether this call added the key. */
uint64_t *hashmap_put(struct hashmap *map, uint64_t key, bool *fresh);

/* The value of a key; 0 = the key is not in the table. */
uint64_t hashmap_get(const struct hashmap *map, uint64_t key);

/* Iterates over all values, in no order; returns 0 after the last one. *at starts as 0. */
uint64_t hashmap_next(const struct hashmap *map, size_t *at);

uint64_t hash_mix(uint64_t seed, uint64_t value);
uint64_t hash_text(uint64_t seed, const char *text, size_t length);

#endif
