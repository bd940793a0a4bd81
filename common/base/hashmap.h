/* hashmap.h - 64-bit key to 64-bit value, and the one hash function of the offline side.
 *
 * Open addressing with linear probing, grown by doubling, nothing is ever removed. The hash is
 * part of what users see (signatures are made of it), so it never changes.
 */
#ifndef COMMON_BASE_HASHMAP_H
#define COMMON_BASE_HASHMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct map {
    struct map_entry *entries;
    size_t size; /* a power of two, or 0 */
    size_t used;
};

/* A zeroed struct map is an empty one; map_end() leaves it so. */
void map_end(struct map *map);

/* The place of the key's value; *fresh says that it was made (with 0) by this call.
 * Valid until the next map_put(). */
uint64_t *map_put(struct map *map, uint64_t key, bool *fresh);

/* The key's value, 0 = there is none. */
uint64_t map_get(const struct map *map, uint64_t key);

/* The values one after the other, 0 at the end; *at starts as 0. */
uint64_t map_next(const struct map *map, size_t *at);

uint64_t hash_mix(uint64_t seed, uint64_t value);
uint64_t hash_text(uint64_t seed, const char *text, size_t length);

#endif
