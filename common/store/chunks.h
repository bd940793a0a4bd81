/* chunks.h - where the chunks and the records of a store image are.
 *
 * Knows the framing and nothing of what the records mean: finds each valid chunk, clips it to what
 * is there, and cuts arrays into runs of records that are not holes. Every number comes from the
 * file and is checked here: no run ever reaches outside the image.
 */
#ifndef COMMON_STORE_CHUNKS_H
#define COMMON_STORE_CHUNKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "leak_store.h"
#include "common/store/store_file.h"

struct chunk {
    uint32_t type;
    uint64_t first;      /* id of the first record */
    size_t payload, end; /* offsets in the image: payload <= end <= image.size */
    size_t length;       /* as the file says, but payload + length <= end */
};

struct chunks {
    struct chunk *chunk;
    size_t count, capacity;
    size_t skipped; /* pages that begin with something, but with no valid chunk */
};

/* used: as the header says, 0 = unknown. The result is given to chunks_end(). */
struct chunks chunks_find(const struct image *image, uint64_t used);
void chunks_end(struct chunks *chunks);

/* Of what a process has one: the first of that type, NULL = there is none. */
const struct chunk *chunks_first(const struct chunks *chunks, uint32_t type);

/* Consecutive records of an array, all inside the image. */
struct run {
    const uint8_t *at;
    uint64_t first; /* id of the first one */
    size_t count;
    size_t base; /* for the caller: index of the first one in an array of all */
};

struct runs {
    struct run *run;
    size_t count, capacity;
};

/* Append the runs of records of `size` bytes that begin `skip` bytes into the payload; at most
 * `limit` records. Records in holes are left out: they are unpublished. */
void runs_add(struct runs *runs, const struct image *image, const struct chunk *chunk, size_t skip,
              size_t size, uint64_t limit);

/* Sort by first id, set each base (from `base` on), drop runs whose ids overlap those of an
 * earlier one or exceed 32 bits. Returns how many were dropped; *total is the sum of counts. */
size_t runs_index(struct runs *runs, size_t base, size_t *total);

/* The index of the record with this id, or SIZE_MAX. After runs_index(). */
size_t runs_find(const struct runs *runs, uint64_t id);

void runs_end(struct runs *runs);

#endif
