/* segments.h - an array in the store that never moves: id -> record, grown by doubling chunks.
 *
 * Segment k holds first_count << k records, so a record's place follows from its id by one count
 * of leading zeros. Segments are made on demand, by whoever needs an id in them first.
 */
#ifndef PRELOAD_SEGMENTS_H
#define PRELOAD_SEGMENTS_H

#include "preload/base.h"
#include "preload/lock.h"
#include "leak_store.h"

#define SEGMENTS_MAX 22

struct segments {
    enum leak_chunk_type type;
    uint32_t record_size;
    uint32_t first_id;
    uint32_t first_bits; /* the first segment holds 1 << first_bits records */
    struct lock lock;    /* guards making a segment */
    char *segment[SEGMENTS_MAX];
};

/* The record of an id that segments_reach has seen. */
static inline void *segments_at(const struct segments *segments, uint32_t id)
{
    uint32_t place = id - segments->first_id + (1u << segments->first_bits);
    unsigned k = 31 - __builtin_clz(place);
    return segments->segment[k - segments->first_bits] +
           (size_t)(place - (1u << k)) * segments->record_size;
}

/* The record of a new id; NULL when there is no memory. */
void *segments_reach(struct segments *segments, uint32_t id);

/* Takes the next id behind *last and says which; its record, or NULL and nothing taken: so every id
 * up to *last has a record. Any thread. */
void *segments_next(struct segments *segments, uint32_t *last, uint32_t *id);

/* Fork child: moves everything up to and including last_id into the new store. */
bool segments_fork_child(struct segments *segments, uint32_t last_id);

#endif
