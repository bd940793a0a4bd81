/* segmented_array.h - an array in the store that never moves: id -> record, grown by doubling.
 *
 * Each segment is a chunk. The first ones hold 1 << (first_bits + k) records; later, what doubles
 * the array is 1 << SEGMENTS_PART_BITS equal ones, for a chunk takes all its memory when it is
 * made. So a record's segment follows from its id by one count of leading zeros. Segments are made
 * on demand, by whoever needs an id in them first.
 */
#ifndef PRELOAD_STORE_SEGMENTED_ARRAY_H
#define PRELOAD_STORE_SEGMENTED_ARRAY_H

#include "preload/base/base.h"
#include "preload/base/lock.h"
#include "leak_store.h"

#define SEGMENTS_MAX 192
#define SEGMENTS_PART_BITS 4

struct segments {
    enum leak_chunk_type type;
    uint32_t record_size;
    uint32_t first_id;
    uint32_t first_bits; /* the first segment holds 1 << first_bits records */
    uint32_t split_bits; /* with 1 << split_bits records or more it grows in parts */
    struct lock lock;    /* guards making a segment */
    /* Of each segment, the address where place 0 would be; 0: it is not made. */
    uintptr_t origin[SEGMENTS_MAX];
};

/* Places begin at 1 << first_bits, with the first id. */
static inline uint32_t segments_place(const struct segments *segments, uint32_t id)
{
    return id - segments->first_id + (1u << segments->first_bits);
}

static inline unsigned segments_of(const struct segments *segments, uint32_t place)
{
    unsigned bits = 31 - __builtin_clz(place), segment = bits - segments->first_bits;
    if (bits < segments->split_bits)
        return segment;
    /* The bits behind the highest one say which part. */
    unsigned split = bits - segments->split_bits, part = place >> (bits - SEGMENTS_PART_BITS);
    return segment - split + (split << SEGMENTS_PART_BITS) + part - (1u << SEGMENTS_PART_BITS);
}

/* The record of an id that segments_reach has seen. */
static inline void *segments_at(const struct segments *segments, uint32_t id)
{
    uint32_t place = segments_place(segments, id);
    return (void *)(segments->origin[segments_of(segments, place)] +
                    (uintptr_t)place * segments->record_size);
}

/* The record of a new id; NULL when there is no memory. */
void *segments_reach(struct segments *segments, uint32_t id);

/* Takes the next id behind *last and says which; its record, or NULL and nothing taken: so every id
 * up to *last has a record. Any thread. */
void *segments_next(struct segments *segments, uint32_t *last, uint32_t *id);

/* Fork child: moves everything up to and including last_id into the new store. */
bool segments_fork_child(struct segments *segments, uint32_t last_id);

#endif
