/* segmented_array.h - an array in the recording file that never moves: id -> record, grown by
 * doubling.
 *
 * Each segment is a chunk. Segment k of the first ones holds 1 << (first_bits + k) records; later
 * each doubling consists of 1 << SEGMENTED_ARRAY_PART_BITS equal segments, because a chunk takes
 * all its memory when it is made. So a record's segment follows from its id by one count of leading
 * zeros. A segment is made when an id in it is first needed. */
#ifndef PRELOAD_STORE_SEGMENTED_ARRAY_H
#define PRELOAD_STORE_SEGMENTED_ARRAY_H

#include "preload/base/base.h"
#include "preload/base/lock.h"
#include "leak_store.h"

#define SEGMENTED_ARRAY_MAX 192
#define SEGMENTED_ARRAY_PART_BITS 4

struct segmented_array {
    enum leak_chunk_type type;
    uint32_t record_size;
    uint32_t first_id;
    uint32_t first_bits; /* segment 0 holds 1 << first_bits records */
    /* From place (segmented_array_place) 1 << split_bits on, each doubling consists of several
     * segments. */
    uint32_t split_bits;
    struct lock lock; /* held while a segment is made */
    /* For each segment the address that a record with place 0 would have; 0: the segment does not
     * exist. */
    uintptr_t origin[SEGMENTED_ARRAY_MAX];
};

/* Converts an id to a place, the number from which segment and position of the record follow: id -
 * first_id + (1 << first_bits). */
static inline uint32_t segmented_array_place(const struct segmented_array *segments, uint32_t id)
{
    return id - segments->first_id + (1u << segments->first_bits);
}

static inline unsigned segmented_array_segment(const struct segmented_array *segments,
                                               uint32_t place)
{
    unsigned bits = 31 - __builtin_clz(place), segment = bits - segments->first_bits;
    if (bits < segments->split_bits)
        return segment;
    /* Each doubling from split_bits on consists of equal parts: the bits of the place below its
     * highest bit select the part. */
    unsigned split = bits - segments->split_bits,
             part = place >> (bits - SEGMENTED_ARRAY_PART_BITS);
    return segment - split + (split << SEGMENTED_ARRAY_PART_BITS) + part -
           (1u << SEGMENTED_ARRAY_PART_BITS);
}

/* Finds the record of an id. segmented_array_ensure must have been called for the id. */
static inline void *segmented_array_at(const struct segmented_array *segments, uint32_t id)
{
    uint32_t place = segmented_array_place(segments, id);
    return (void *)(segments->origin[segmented_array_segment(segments, place)] +
                    (uintptr_t)place * segments->record_size);
}

/* Finds the record of an id and makes its segment if necessary. NULL: there is no memory. */
void *segmented_array_ensure(struct segmented_array *segments, uint32_t id);

/* Appends a record: increments *last, the largest id; stores the new id in *id and returns its
 * record. NULL: there is no memory, and *last is unchanged, so every id up to *last has a record.
 * Any thread may call it. */
void *segmented_array_append(struct segmented_array *segments, uint32_t *last, uint32_t *id);

/* Copies the records up to and including last_id into the new recording file of a fork child.
 * False: the file and memory have no room. */
bool segmented_array_fork_child(struct segmented_array *segments, uint32_t last_id);

#endif
