#include "preload/store/segmented_array.h"
#include "preload/base/base.h"
#include "preload/store/store.h"

struct extent {
    uint32_t place; /* place of the segment's first record (segmented_array_place) */
    uint64_t bytes;
};

/* Computes which places segment k holds; the inverse of segmented_array_segment. */
static struct extent segment_extent(const struct segmented_array *segments, unsigned k)
{
    unsigned whole = segments->split_bits - segments->first_bits, bits = segments->first_bits + k;
    uint32_t place = 1;
    if (k >= whole) {
        bits = segments->split_bits + ((k - whole) >> SEGMENTED_ARRAY_PART_BITS) -
               SEGMENTED_ARRAY_PART_BITS;
        place = (1u << SEGMENTED_ARRAY_PART_BITS) + (k - whole) % (1u << SEGMENTED_ARRAY_PART_BITS);
    }
    return (struct extent){place << bits, (uint64_t)segments->record_size << bits};
}

/* Makes segment k. Returns its origin (struct segmented_array); 0: no memory. */
static uintptr_t make_segment(struct segmented_array *segments, unsigned k)
{
    struct extent extent = segment_extent(segments, k);
    uint32_t id = extent.place - segmented_array_place(segments, 0);
    char *payload = store_new_chunk(segments->type, extent.bytes, id);
    if (!payload)
        return 0;
    store_publish(payload, extent.bytes);
    return (uintptr_t)payload - (uintptr_t)extent.place * segments->record_size;
}

void *segmented_array_ensure(struct segmented_array *segments, uint32_t id)
{
    unsigned k = segmented_array_segment(segments, segmented_array_place(segments, id));
    if (unlikely(k >= SEGMENTED_ARRAY_MAX))
        return NULL;
    if (unlikely(!load_acquire(&segments->origin[k]))) {
        struct locked locked = lock_take(&segments->lock);
        if (!segments->origin[k])
            /* Pairs with load_acquire(&origin[k]) before the lock: a thread that sees the segment's
             * origin also sees its content. */
            store_release(&segments->origin[k], make_segment(segments, k));
        lock_give(&locked);
        if (!segments->origin[k])
            return NULL;
    }
    return segmented_array_at(segments, id);
}

void *segmented_array_append(struct segmented_array *segments, uint32_t *last, uint32_t *id)
{
    uint32_t before = load_relaxed(last);
    void *record;
    do
        if (unlikely(!(record = segmented_array_ensure(segments, before + 1))))
            return NULL;
    while (!__atomic_compare_exchange_n(last, &before, before + 1, false, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED));
    *id = before + 1;
    return record;
}

bool segmented_array_fork_child(struct segmented_array *segments, uint32_t last_id)
{
    uint32_t end = segmented_array_place(segments, last_id) + 1;
    segments->lock.word = 0;
    for (unsigned k = 0; k < SEGMENTED_ARRAY_MAX && segments->origin[k]; k++) {
        struct extent extent = segment_extent(segments, k);
        uintptr_t before = (uintptr_t)extent.place * segments->record_size;
        const char *old = (const char *)(segments->origin[k] + before);
        segments->origin[k] = 0;
        if (extent.place >= end)
            continue;
        uint64_t used = (uint64_t)(end - extent.place) * segments->record_size;
        if (!(segments->origin[k] = make_segment(segments, k)))
            return false;
        memcpy((char *)(segments->origin[k] + before), old,
               used < extent.bytes ? used : extent.bytes);
    }
    return true;
}
