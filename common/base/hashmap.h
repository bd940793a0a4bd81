/* hashmap.h - the hash table of the tools, from 64-bit keys to 64-bit values, and their one hash
 * function.
 *
 * Open addressing with linear probing, doubled at three quarters full; entries are never removed.
 * The hash values are visible to users (signatures are made of them), so the functions never
 * change.
 */
#ifndef COMMON_BASE_HASHMAP_H
#define COMMON_BASE_HASHMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hashmap {
    struct hashmap_entry *entries;
    size_t size; /* a power of two, or 0 */
    size_t used;
};

/* A zeroed struct hashmap is empty; hashmap_end() frees the entries and leaves it empty. */
void hashmap_end(struct hashmap *map);

/* The address of the key's value, valid until the next hashmap_put(). A key that was not there is
 * added with the value 0; *fresh, unless NULL, says whether this call added it. */
uint64_t *hashmap_put(struct hashmap *map, uint64_t key, bool *fresh);

/* The key's value, 0 = the key is not there. */
uint64_t hashmap_get(const struct hashmap *map, uint64_t key);

/* Iterates over the values, in no order, until it returns 0; *at starts as 0. */
uint64_t hashmap_next(const struct hashmap *map, size_t *at);

uint64_t hash_mix(uint64_t seed, uint64_t value);
uint64_t hash_text(uint64_t seed, const char *text, size_t length);

#endif
